"""Verdicts on claims: their comparisons, the inference behind these, and counts."""
