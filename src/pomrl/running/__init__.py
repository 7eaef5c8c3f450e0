"""Plan missing runs (`plan`), and compute and store them (`work`)."""
