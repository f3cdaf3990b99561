"""Tools under a run: the loop, scheduling, middleware, approvals, subagents, manifests. Nothing here knows MCP."""
