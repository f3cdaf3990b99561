"""toolwire carries tools over the Model Context Protocol, byte for byte, in both directions."""

from toolwire.agent.agent import Agent
from toolwire.agent.errors import ApprovalRequired, ModelRetry
from toolwire.agent.events import Event
from toolwire.agent.manifest import manifest, tools_record
from toolwire.agent.middleware import Call, allow, audit, map_errors
from toolwire.agent.model import CallEvent, Finish, Model, ModelRequest, ModelTool, ReasoningDelta, TextDelta, Usage
from toolwire.agent.output import output_of
from toolwire.agent.result import PendingCall, RunResult, Step
from toolwire.agent.subagent import subagent
from toolwire.bridge.agent_serving import ServableAgent, serve_agent
from toolwire.bridge.connection import Connection, connect
from toolwire.bridge.exporting import add_tools, remove_tools
from toolwire.bridge.importing import tools
from toolwire.bridge.live_tools import LiveTools, live_tools
from toolwire.bridge.serving import run_stdio, stdio
from toolwire.bridge.toolset import Toolset
from toolwire.contract.current import CallContext, Request, current_call, current_request, report_progress
from toolwire.contract.decorator import tool
from toolwire.contract.local_output import LocalOutput
from toolwire.contract.message import Message, messages_from_json, messages_to_json
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
    RunError,
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
    "Agent",
    "ApprovalRequired",
    "Call",
    "CallContext",
    "CallEvent",
    "ClientWire",
    "ConnectError",
    "Connection",
    "Event",
    "Finish",
    "InvalidToolInput",
    "Limits",
    "ListedToolError",
    "LiveTools",
    "LocalOutput",
    "MediaPart",
    "Message",
    "Model",
    "ModelRequest",
    "ModelRetry",
    "ModelTool",
    "PendingCall",
    "Policy",
    "ReasoningDelta",
    "RegistrationError",
    "RemoteCallError",
    "Request",
    "RunError",
    "RunResult",
    "Schema",
    "SchemaError",
    "ServableAgent",
    "SkippedTool",
    "Step",
    "TextDelta",
    "TextPart",
    "Tool",
    "ToolError",
    "ToolFailure",
    "ToolImportError",
    "ToolOutput",
    "ToolReturnedError",
    "Toolset",
    "ToolwireError",
    "Usage",
    "add_tools",
    "allow",
    "annotations",
    "audit",
    "connect",
    "current_call",
    "current_request",
    "live_tools",
    "manifest",
    "map_errors",
    "max_result_bytes",
    "messages_from_json",
    "messages_to_json",
    "origin",
    "output_of",
    "prompt_snippet",
    "remove_tools",
    "render",
    "replay",
    "report_progress",
    "require_approval",
    "run_stdio",
    "sequential",
    "serve_agent",
    "stdio",
    "strict_input",
    "subagent",
    "timeout",
    "tool",
    "tools",
    "tools_record",
    "wrap",
]
