"""Builds the site: `python -m mkdocs build --strict` reads mkdocs.yml, and that names `hooks.py` here."""
