"""Experiments become stored tables in two steps: `plan` says what the store lacks, and `work` computes and stores."""
