"""Metrics, which say more of policies than their planning loss does."""
