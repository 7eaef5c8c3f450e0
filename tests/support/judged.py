"""Tables of judgements with given verdicts on claims of the paper."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.support.worlds import CLAIMS, PAPER

from pomrl.judging import judgements
from pomrl.judging.claim import JudgedClaim
from pomrl.judging.judgements import Judgements
from pomrl.judging.study_claims import Basis
from verdicts.estimates import mean
from verdicts.parts import Part, Verdict

HOLDS, NOT, OPEN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED

FOUND = {
    "printed": {"Q1.1": HOLDS, "Q1.2": NOT, "Q1.3": NOT, "Q1.4": NOT, "Q1.6": OPEN, "T.4": NOT},
    "repaired": {"Q1.1": HOLDS, "Q1.2": NOT, "Q1.3": HOLDS, "Q1.4": NOT, "Q1.6": HOLDS},
    "computed": {"Q1.1": HOLDS, "Q1.2": NOT, "Q1.3": HOLDS, "Q1.4": HOLDS, "Q1.6": HOLDS},
}
"""Verdicts under the three variants of the headline."""

SAMPLES = {HOLDS: (-1.01, -0.99), NOT: (0.99, 1.01), Verdict.NO_DIFFERENCE: (-0.01, 0.01), OPEN: (-1.0, 1.0)}
"""The values of both halves of 1000 runs for each verdict; the claim is a mean below 0."""


Topics = Mapping[str, Verdict]
"""The verdicts on the topics of a claim."""


def write_judgements(folder: Path, by_variant: Mapping[str, Mapping[str, Verdict | Topics]]) -> Judgements:
    """Write and read a table of judgements with these verdicts."""
    rows = []
    for name, verdicts in by_variant.items():
        basis = Basis(name, {}, CLAIMS, PAPER.config.runs)
        outcomes = [outcome(basis, id, verdict) for id, verdict in verdicts.items()]
        assert [judged_claim.verdicts for judged_claim in outcomes] == list(map(verdict_topics, verdicts.values()))
        rows += [
            judgements.judgement(name, judged_claim, judged_claim.claim.notes.get(name, ""))
            for judged_claim in outcomes
        ]
    judgements.write(folder, rows, "pomrl reproduce pomrl2023 claims")
    return judgements.read(folder, list(PAPER.config.variants))


def verdict_topics(verdict: Verdict | Topics) -> Topics:
    return {"": verdict} if isinstance(verdict, Verdict) else verdict


def outcome(basis: Basis, id: str, verdict: Verdict | Topics) -> JudgedClaim:
    claim = next(claim for claim in CLAIMS if claim.id == id)
    estimates = [
        Part("a less b", mean(np.tile(SAMPLES[topic_verdict], 500)), below=0.0, topic=topic)
        for topic, topic_verdict in verdict_topics(verdict).items()
    ]
    return replace(basis.unjudged_outcome(claim), needed=1000).judge(estimates)
