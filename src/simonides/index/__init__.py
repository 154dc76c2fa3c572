"""The array structures: columns, vectors, postings, and the segments that keep them. No SQL."""
