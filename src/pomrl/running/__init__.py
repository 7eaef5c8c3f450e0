"""Sweeps of experiments: what is missing in the store, how it is divided into blocks of runs, and computing it."""
