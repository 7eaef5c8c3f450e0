"""Rank learners on the same problems (docs/board.md)."""
