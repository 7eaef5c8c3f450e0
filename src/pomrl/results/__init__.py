"""Select, summarise and compare stored results."""
