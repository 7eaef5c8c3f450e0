"""Metrics of policies beside the planning loss."""
