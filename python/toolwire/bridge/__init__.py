"""Between tools and MCP: connections, importing, and the calls of imported tools."""
