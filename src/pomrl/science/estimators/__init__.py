"""Estimators of models and rewards, and what they remember of earlier tasks."""
