"""The demo: a small MCP server (`python -m toolwire.demo`), and what the official SDK alone makes of it.

`shelf` holds the tools, `server` speaks the protocol, `sdk_alone` is the other column of `toolwire demo`. The server is
a plain loop over bytes: what arrives at a client is what stands in these files, and nothing in between rounds it.
"""
