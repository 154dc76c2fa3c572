"""The write path: from what a caller gives to what the backend stores."""
