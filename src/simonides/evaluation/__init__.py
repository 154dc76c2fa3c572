"""Measured quality: datasets with known answers, the measures, and the comparison of two runs."""
