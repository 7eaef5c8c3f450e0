"""Compare two revisions of a repository: settings, code and results."""
