"""Packers: what fits the budget, rendered for a prompt."""
