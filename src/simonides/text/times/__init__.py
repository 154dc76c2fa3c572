"""Time expressions: a hand-made grammar that reads dates and times out of English text."""
