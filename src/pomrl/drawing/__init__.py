"""Draw figures of stored results."""
