"""Verdicts on claims: comparisons, statistical inference, and counts."""
