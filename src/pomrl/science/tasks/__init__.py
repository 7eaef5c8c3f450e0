"""Tasks: their distributions, and streams of the mean models that they are drawn around."""
