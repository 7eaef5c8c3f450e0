"""The judgements of a study in words and in Markdown; terminal and page use the same words."""

from collections.abc import Collection, Mapping, Sequence

from pomrl.configuration.study import Study
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.verdict import REPORTED, Comparison, Verdict

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."
"""The explanation of the mark (s)."""


def in_words(verdict: Verdict | None) -> str:
    """Return what stands for a verdict, or in its place where estimates are reported."""
    return str(verdict or REPORTED)


def older_in_words(study: Study, judgements: Judgements) -> str:
    """Return a sentence on verdicts that are older than the present code and settings; empty if there are none."""
    if not judgements.older:
        return ""
    verdicts = f"The verdicts under {' and '.join(judgements.older)} are older than the present code and settings"
    return f"{verdicts}: pomrl reproduce {study.word} renews them."


def environments_in_words(judgement: Judgement) -> str:
    """Return the share of environments in which a claim is true; empty where it is not known."""
    share, at_most = judgement.true_in_environments, "at most " * (len(judgement.comparisons) > 1)
    return at_most + share.percent() if share else ""


def verdict_with_topics(judgement: Judgement) -> str:
    """Return the verdict on a claim, and on each of its topics."""
    topics, word = judgement.topics, in_words(judgement.verdict)
    if len(topics) < 2:
        return word
    return f"{word} ({', '.join(f'{topic}: {in_words(verdict)}' for topic, verdict in topics.items())})"


DECISIVE = "decisive comparison, estimate [interval], claimed"
"""The column of the table of claims with the comparison on which a verdict rests."""

ENVIRONMENTS, OPPOSITE = "true in environments", "opposite under"
"""The columns that the table of claims has only if something is known of a claim, and what the legend says of them."""

EXPLAINED = {
    ENVIRONMENTS: "the share of environments in which it is true ('at most': for its hardest part), with a 95 % "
    "interval",
    OPPOSITE: "the single choices of the families of variants under which the verdict is the opposite",
}


def columns(
    study: Study, judgements: Judgements, shown: Sequence[str], turned: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the cells of the table of claims by column, as Markdown.

    Args:
        study: The study.
        judgements: Its judgements.
        shown: The variants that have a column, of which the first one comes with the verdicts on topics.
        turned: The variants under which the verdict on a claim is the opposite, by the claim's id.
    """
    listed, unchanged = judgements.listed(shown), judgements.of(study.unchanged)
    main, *others = shown
    under = {name: [judgements.of(name).get(each.id) for each in listed] for name in others}
    every = {
        "claim": [f"**{each.id}**{' (s)' * each.selected_on} {each.statement} ({each.where})" for each in listed],
        main: [verdict_with_topics(each) if each.variant == main else "" for each in listed],
        **{name: [in_words(each.verdict) if each else "" for each in of] for name, of in under.items()},
        DECISIVE: [decisive_in_words(each.decisive) for each in listed],
        ENVIRONMENTS: [environments_in_words(unchanged.get(each.id, each)) for each in listed],
        OPPOSITE: [", ".join(turned.get(each.id, ())) for each in listed],
    }
    return {name: cells for name, cells in every.items() if name not in EXPLAINED or any(cells)}


def legend(study: Study, shown: Collection[str]) -> str:
    """Return what is to be said of the table of claims with these columns."""
    sentences = [
        "Each claim was computed until it was decided, at fixed numbers of runs over which its error is spread.",
        "Where an interval shows that a number differs from the threshold of the claim by less than matters, there is "
        "no difference of interest.",
        "Its estimate is that of the decisive comparison, with the interval that decided it.",
    ]
    if further := [words for column, words in EXPLAINED.items() if column in shown]:
        sentences.append(f"Then follow {'; and '.join(further)}.")
    return " ".join([*sentences, *([SELECTED] if study.described.cite else [])])


def decisive_in_words(part: Comparison) -> str:
    """Return a comparison, what is found, and what is claimed of it."""
    return f"{part.compared}: {part.found}" + (f", claimed {part.claimed}" if part.claimed else "")
