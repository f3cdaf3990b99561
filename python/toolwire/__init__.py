"""toolwire carries tools over the Model Context Protocol, byte for byte, in both directions."""

from toolwire.bridge.connection import Connection, connect
from toolwire.bridge.exporting import add_tools, remove_tools
from toolwire.bridge.importing import tools
from toolwire.bridge.serving import run_stdio, stdio
from toolwire.bridge.toolset import Toolset
from toolwire.contract.current import Request, current_request, report_progress
from toolwire.contract.decorator import tool
from toolwire.contract.local_output import LocalOutput
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import MediaPart, TextPart
from toolwire.contract.policies import (
    Policy,
    annotations,
    max_result_bytes,
    origin,
    prompt_snippet,
    render,
    replay,
    require_approval,
    sequential,
    strict_input,
    timeout,
    wrap,
)
from toolwire.contract.schema import Schema
from toolwire.contract.tool_object import Tool
from toolwire.errors import (
    ConnectError,
    InvalidToolInput,
    ListedToolError,
    RegistrationError,
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
    "LocalOutput",
    "MediaPart",
    "Policy",
    "RegistrationError",
    "RemoteCallError",
    "Request",
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
    "add_tools",
    "annotations",
    "connect",
    "current_request",
    "max_result_bytes",
    "origin",
    "prompt_snippet",
    "remove_tools",
    "render",
    "replay",
    "report_progress",
    "require_approval",
    "run_stdio",
    "sequential",
    "stdio",
    "strict_input",
    "timeout",
    "tool",
    "tools",
    "wrap",
]
