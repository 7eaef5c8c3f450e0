"""The board: every learner on the same problems, ranked (docs/board.md)."""
