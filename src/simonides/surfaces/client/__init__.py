"""Banks elsewhere, and banks from asynchronous code: the same methods, the same records."""
