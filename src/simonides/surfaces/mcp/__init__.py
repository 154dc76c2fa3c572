"""The MCP door: a few tools, resources and a prompt over the table of operations."""
