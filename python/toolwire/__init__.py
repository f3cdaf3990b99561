"""toolwire carries tools over the Model Context Protocol, byte for byte, in both directions."""

from toolwire.bridge.connection import Connection, connect
from toolwire.bridge.importing import tools
from toolwire.bridge.toolset import Toolset
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import MediaPart, TextPart
from toolwire.contract.policies import Policy, max_result_bytes, origin, render, sequential, timeout
from toolwire.contract.schema import Schema
from toolwire.contract.tool_object import Tool
from toolwire.errors import (
    ConnectError,
    InvalidToolInput,
    ListedToolError,
    RemoteCallError,
    SchemaError,
    SkippedTool,
    ToolError,
    ToolFailure,
    ToolImportError,
    ToolReturnedError,
    ToolwireError,
)
from toolwire.wire.client import ClientWire
from toolwire.wire.limits import Limits

__all__ = [
    "ClientWire",
    "ConnectError",
    "Connection",
    "InvalidToolInput",
    "Limits",
    "ListedToolError",
    "MediaPart",
    "Policy",
    "RemoteCallError",
    "Schema",
    "SchemaError",
    "SkippedTool",
    "TextPart",
    "Tool",
    "ToolError",
    "ToolFailure",
    "ToolImportError",
    "ToolOutput",
    "ToolReturnedError",
    "Toolset",
    "ToolwireError",
    "connect",
    "max_result_bytes",
    "origin",
    "render",
    "sequential",
    "timeout",
    "tools",
]
