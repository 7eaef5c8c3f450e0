"""Figures of the bounds on regret and of the mixing rate (see docs/theory.md and ERRATA.md), one module for each."""
