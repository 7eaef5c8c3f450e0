"""Agents: maps from the data of a task to policies."""
