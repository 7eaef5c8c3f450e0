"""Random draws from keys, in C or NumPy with the same bits."""
