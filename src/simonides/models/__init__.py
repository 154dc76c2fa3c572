"""Embedders: the catalogue of models, their cache, and the only code that loads one."""
