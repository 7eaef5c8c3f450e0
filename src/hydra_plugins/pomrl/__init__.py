"""The launcher, sweeper and search path plugins for Hydra."""
