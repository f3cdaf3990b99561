"""The name under which local outputs were known while they were a class of their own."""

from toolwire.contract.blocks import block_json, media_marker
from toolwire.contract.output import ToolOutput as LocalOutput

__all__ = ["LocalOutput", "block_json", "media_marker"]
