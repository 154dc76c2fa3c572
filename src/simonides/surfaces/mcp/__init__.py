"""The MCP interface: a few tools, resources and a prompt over the table of operations."""
