"""The answer in a sentence or two: how many claims hold, by the text and as the authors computed them."""

from collections.abc import Mapping

from pomrl.claims.verdict import Verdict

SUMMED_UP = {
    Verdict.REPRODUCED: ("holds", "hold"),
    Verdict.NOT_REPRODUCED: ("does not", "do not"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
}
"""What is said of one claim, and of several, with each verdict."""

Verdicts = Mapping[str, Verdict]
"""The verdicts on claims, by the ids of these."""


def answer(text: Verdicts, authors: Verdicts | None = None) -> str:
    """Return the sentences that say how many claims hold.

    Args:
        text: The verdicts by the paper's text.
        authors: The verdicts as the authors' notebook computes the results, if there are any.
    """
    sentences = (
        f"Of the {len(text)} claims of the paper that can be checked, {_counted(text)} when everything is computed as "
        "the paper's text says. The probability that even one of these verdicts is wrong is at most 5 %."
    )
    if not authors:
        return sentences
    decided = {id for id, verdict in authors.items() if Verdict.UNDECIDED not in (verdict, text.get(id, verdict))}
    changed = [id for id in decided if id in text and authors[id] is not text[id]]
    number = f"{len(changed)} {'claim' if len(changed) == 1 else 'claims'}"
    turned = f"for {number} the verdict is the opposite of that by the text" if changed else "no verdict is turned"
    return (
        f"{sentences} When it is computed as the authors' published notebook does, which differs from the text in "
        f"many places, {_counted(authors)} of the {len(authors)} claims that can be checked there; {turned}. The "
        "probability of even one wrong verdict is at most 5 % there too."
    )


def _counted(verdicts: Verdicts) -> str:
    counts = {verdict: list(verdicts.values()).count(verdict) for verdict in SUMMED_UP}
    words = [f"{count} {SUMMED_UP[verdict][count != 1]}" for verdict, count in counts.items() if count]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
