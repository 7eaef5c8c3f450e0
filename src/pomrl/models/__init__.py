"""Plan with your own models: arrays, Gymnasium tables, sparse matrices."""
