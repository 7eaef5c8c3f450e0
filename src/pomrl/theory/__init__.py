"""The bounds of the paper and their corrections, and the simulations that they are checked against.

Nothing that an experiment computes depends on this package, so that a bound may change and no stored run is outdated.
"""
