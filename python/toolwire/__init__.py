"""toolwire carries tools over the Model Context Protocol, byte for byte, in both directions."""

from toolwire.agent.agent import Agent
from toolwire.agent.errors import ApprovalRequired, ModelRetry
from toolwire.agent.events import Event
from toolwire.agent.manifest import manifest, tools_record
from toolwire.agent.middleware import Call, allow, audit, map_errors
from toolwire.agent.model import CallEvent, Finish, Model, ModelRequest, ModelTool, ReasoningDelta, TextDelta, Usage
from toolwire.agent.output import output_of
from toolwire.agent.result import PendingCall, RunResult, Step
from toolwire.agent.scheduling import Overlap, waves
from toolwire.agent.subagent import subagent
from toolwire.bridge.agent_serving import ServableAgent, serve_agent
from toolwire.bridge.connection import Connection, connect
from toolwire.bridge.discovery import Source, annotated_read_only, discover
from toolwire.bridge.exporting import add_tools, remove_tools
from toolwire.bridge.http_app import http_app
from toolwire.bridge.importing import tools
from toolwire.bridge.live_tools import LiveTools, live_tools
from toolwire.bridge.prompts import Prompt, Prompts, prompt_messages_to_chat, prompts
from toolwire.bridge.registering import register
from toolwire.bridge.result_encoding import encode_tool_result, encode_tool_result_json
from toolwire.bridge.serving import run_stdio, stdio
from toolwire.bridge.toolset import Toolset
from toolwire.contract.authorization import AuthorizationError, CallError
from toolwire.contract.binding import Binding, Registry, bind, mcp_identity
from toolwire.contract.current import CallContext, Request, current_call, current_request, report_progress
from toolwire.contract.decorator import tool
from toolwire.contract.effect import Effect
from toolwire.contract.input_round import Continuation, ContinuationBindingError, InputAnswerError, InputRequest
from toolwire.contract.invocation import (
    Contract,
    InputRejected,
    InputValidationDefect,
    InvalidInvocation,
    InvalidTool,
    Invocation,
)
from toolwire.contract.local_output import LocalOutput
from toolwire.contract.message import Message, messages_from_json, messages_to_json
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import Citation, MediaPart, TextPart
from toolwire.contract.per_call import call_options
from toolwire.contract.policies import (
    Policy,
    annotations,
    guard,
    max_result_bytes,
    origin,
    prompt_snippet,
    render,
    replay,
    require_approval,
    sequential,
    strict_input,
    timeout,
    validate_input,
    wrap,
)
from toolwire.contract.schema import Schema
from toolwire.contract.tool_object import Tool
from toolwire.errors import (
    ConnectError,
    ContentError,
    DiscoveryError,
    EmptyEmbeddedResourceError,
    IncompleteResultError,
    InvalidToolInput,
    ListedToolError,
    MediaReferenceError,
    NilServerError,
    NilSessionError,
    RegistrationError,
    RemoteCallError,
    ResultError,
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
    "AuthorizationError",
    "Binding",
    "Call",
    "CallContext",
    "CallError",
    "CallEvent",
    "Citation",
    "ClientWire",
    "ConnectError",
    "Connection",
    "ContentError",
    "Continuation",
    "ContinuationBindingError",
    "Contract",
    "DiscoveryError",
    "Effect",
    "EmptyEmbeddedResourceError",
    "Event",
    "Finish",
    "IncompleteResultError",
    "InputAnswerError",
    "InputRejected",
    "InputRequest",
    "InputValidationDefect",
    "InvalidInvocation",
    "InvalidTool",
    "InvalidToolInput",
    "Invocation",
    "Limits",
    "ListedToolError",
    "LiveTools",
    "LocalOutput",
    "MediaPart",
    "MediaReferenceError",
    "Message",
    "Model",
    "ModelRequest",
    "ModelRetry",
    "ModelTool",
    "NilServerError",
    "NilSessionError",
    "Overlap",
    "PendingCall",
    "Policy",
    "Prompt",
    "Prompts",
    "ReasoningDelta",
    "RegistrationError",
    "Registry",
    "RemoteCallError",
    "Request",
    "ResultError",
    "RunError",
    "RunResult",
    "Schema",
    "SchemaError",
    "ServableAgent",
    "SkippedTool",
    "Source",
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
    "annotated_read_only",
    "annotations",
    "audit",
    "bind",
    "call_options",
    "connect",
    "current_call",
    "current_request",
    "discover",
    "encode_tool_result",
    "encode_tool_result_json",
    "guard",
    "http_app",
    "live_tools",
    "manifest",
    "map_errors",
    "max_result_bytes",
    "mcp_identity",
    "messages_from_json",
    "messages_to_json",
    "origin",
    "output_of",
    "prompt_messages_to_chat",
    "prompt_snippet",
    "prompts",
    "register",
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
    "validate_input",
    "waves",
    "wrap",
]
