"""Studies of other papers on planning horizons, laid out like a user's study."""
