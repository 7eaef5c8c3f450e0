"""Verdicts on claims: the comparisons that they are made of, the inference behind these, and how they are counted."""
