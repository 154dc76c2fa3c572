"""The query language: words, "phrases", prefix*, AND, OR, NOT; and, on request, clauses and parentheses."""
