"""Estimators of models and rewards, with their memories."""
