"""Planning for models of your own: arrays, Gymnasium's tables, sparse matrices."""
