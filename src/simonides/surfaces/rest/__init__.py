"""The HTTP interface: routes made from the table of operations. Needs the `server` extra."""
