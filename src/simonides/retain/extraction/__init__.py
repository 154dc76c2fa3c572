"""Names, relations, causes, kind and certainty, read from a text by rules: no model, no network."""
