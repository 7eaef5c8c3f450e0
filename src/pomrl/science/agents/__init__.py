"""Agents, which map what is known of a task to policies."""
