"""Fusers: many rankings in, one pool out."""
