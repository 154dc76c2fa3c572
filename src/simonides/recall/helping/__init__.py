"""Recalls that a language model or a heavy reranker helps with, later (HX-17); never on the default path."""
