"""Distributions of tasks, and streams of their mean models."""
