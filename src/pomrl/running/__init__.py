"""Plan the runs that the store lacks (`plan`), and compute and store them (`work`)."""
