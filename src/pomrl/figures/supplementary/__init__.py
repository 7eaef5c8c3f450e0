"""Figures beyond those of the paper."""
