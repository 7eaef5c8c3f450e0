"""Provide the launcher, sweeper and search path, which Hydra discovers here."""
