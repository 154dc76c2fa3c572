"""One table of what callers may do; the command line, REST, MCP and the reference pages follow it."""
