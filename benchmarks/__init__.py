"""How fast the planner is, beside what a user could pick instead: python -m benchmarks (extra `benchmark`)."""
