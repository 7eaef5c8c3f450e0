"""Figures of experiments that go beyond the paper, one module for each."""
