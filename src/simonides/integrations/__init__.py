"""Thin modules for agent frameworks, each behind an extra of its own and imported only when asked for."""
