"""Figures of the paper, one module for each; its docstring is the caption that the report shows."""
