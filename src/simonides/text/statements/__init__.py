"""What a sentence states about whom, and whether a later one states another value of it; no model."""
