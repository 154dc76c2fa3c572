"""Other programs' files as items to retain: one reader per format, all pure."""
