"""Agents, which map what is known of a task to policies.

The package imports the loop that runs them, so that the digest of every agent's code covers it (`store.code_digest`).
"""

from pomrl.science.agents import acting as acting
