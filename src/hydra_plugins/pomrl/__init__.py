"""The launcher, the sweeper and the search path of this project, which Hydra finds here."""
