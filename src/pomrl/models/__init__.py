"""Models of your own in the place of the paper's tasks: planning, from arrays, Gymnasium and sparse matrices."""
