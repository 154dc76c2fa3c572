"""Text into terms, tokens and spans: pure functions, no SQL, no models."""
