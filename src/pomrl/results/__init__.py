"""What stored tables say: losses as arrays, statistics over runs, and comparisons of experiments."""
