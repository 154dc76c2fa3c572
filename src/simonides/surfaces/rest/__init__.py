"""The HTTP door: routes made from the table of operations. Needs the `server` extra."""
