"""One folder per bank: SQLite for the rows, array files for speed."""
