"""Answers a question from what was recalled; the model is handed in, none is known here."""
