"""Metrics of policies in addition to the planning loss."""
