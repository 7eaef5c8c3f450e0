"""The launcher, sweeper and search path of Hydra."""
