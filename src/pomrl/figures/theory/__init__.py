"""Figures of the bounds, and of what the mixing rate does (docs/theory.md, ERRATA.md)."""
