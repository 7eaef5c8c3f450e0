"""Metrics, which say more of policies than their planning loss does.

The package imports the loop that asks them, so that the digest of every metric's code covers it (`store.code_digest`).
"""

from pomrl.science.agents import acting as acting
