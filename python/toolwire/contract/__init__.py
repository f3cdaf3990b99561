"""What a tool is, whoever runs it: its schema, its policies, its output. Nothing here knows MCP."""
