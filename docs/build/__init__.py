"""Build the site and the generated documents: `python -m mkdocs build --strict` loads `hooks.py`."""
