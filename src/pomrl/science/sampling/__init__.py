"""Draws by keys, in C and in NumPy with the same bits."""
