"""The studies that are shipped, a folder each; nothing of the rest of the package imports them."""
