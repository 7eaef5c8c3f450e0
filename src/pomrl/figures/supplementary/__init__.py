"""Supplementary figures: results of the experiments that the paper describes but does not draw, one module for each."""
