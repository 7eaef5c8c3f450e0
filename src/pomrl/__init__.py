"""POMRL: online meta-learning of transition models, and planning with them, for tabular MDPs."""
