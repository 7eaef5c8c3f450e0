"""Studies that come with the package, a folder each."""
