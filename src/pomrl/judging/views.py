"""The judgements of a study in words and in Markdown; terminal and page use the same words."""

from collections.abc import Collection, Mapping, Sequence

from pomrl.configuration.study import Study
from pomrl.configuration.wording import number_of
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import counts, opposite
from pomrl.judging.verdict import REPORTED, Comparison, Verdict

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."
"""The explanation of the mark (s)."""

SENTENCES = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.DOES_NOT_HOLD: ("does not", "do not"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
}
"""What is said of one claim, and of several, with each verdict."""


def in_words(verdict: Verdict | None) -> str:
    """Return what stands for a verdict, or in its place where estimates are reported."""
    return str(verdict or REPORTED)


def older_in_words(study: Study, judgements: Judgements) -> str:
    """Return a sentence on verdicts that are older than the present code and settings; empty if there are none."""
    if not judgements.older:
        return ""
    verdicts = f"The verdicts under {' and '.join(judgements.older)} are older than the present code and settings"
    return f"{verdicts}: pomrl reproduce {study.word} renews them."


def answer(study: Study, judgements: Judgements) -> str:
    """Return, as Markdown, how many claims hold under each variant that the description names."""
    named = [name for name in study.described.variants if judgements.of(name)]
    if not named:
        return f"No claims are judged yet under the variants of the study: pomrl claims {study.word} judges them."
    judged = [each for each in judgements.listed(named) if each.verdict]
    if not judged:
        return "No claim of the study has a verdict: estimates are reported."
    shown, sure = headline(study, judgements), how_sure(study, judgements)
    if all(each.is_decided_by_too_few for each in judged):
        return sure
    if len(shown) == 1:
        return f"Of the {number_of(len(judged), 'claim')} that can be checked, {_counted(judged)}. {sure}"
    first, *groups = _alike_or_not(judgements, shown)
    return "\n\n".join([first, *(["\n".join(f"- {each}" for each in groups)] if groups else []), sure])


def headline(study: Study, judgements: Judgements) -> list[str]:
    """Return the variants of the headline under which claims are judged, or else the first one of all that are."""
    return [name for name in study.described.headline if judgements.of(name)] or judgements.variants[:1]


def how_sure(study: Study, judgements: Judgements) -> str:
    """Return the sentences that say how sure the verdicts are, and what they are under variants beside the headline."""
    named = [name for name in study.described.variants if judgements.of(name)]
    judged = [each for each in judgements.listed(named) if each.verdict]
    few = [each for each in judged if each.is_decided_by_too_few]
    if len(few) == len(judged):
        return (
            f"Of the {number_of(len(judged), 'claim')} of which runs are stored none is decided yet, because fewer "
            f"than {study.described.analyses[0]:,} runs are stored: pomrl claims {study.word} --decide adds them."
        )
    shown = headline(study, judgements)
    error = f"{study.described.error:.0%}".replace("%", " %")
    sentences = [f"The probability that even one of these verdicts is wrong is at most about {error}."]
    if few:
        sentences.append(
            f"Fewer than {study.described.analyses[0]:,} runs are stored for {len(few)} of the claims: "
            f"pomrl claims {study.word} --decide adds them."
        )
    for name in (name for name in named if name not in shown):
        turned = opposite(judgements, shown[0], [name])
        opposed = (
            f"for {number_of(len(turned), 'claim')} the verdict is the opposite" if turned else "no verdict is turned"
        )
        theirs = [each for each in judgements.of(name).values() if each.verdict]
        sentences.append(
            f"Under the variant {name}, {_counted(theirs)} of the {number_of(len(theirs), 'claim')} that can be "
            f"checked there; {opposed}. The probability of even one wrong verdict is at most about {error} there too."
        )
    return " ".join(sentences)


def _alike_or_not(judgements: Judgements, variants: Sequence[str]) -> list[str]:
    """Return sentences on the claims that hold under all of several variants, under some of them, and under none."""
    groups = grouped(judgements, variants)
    total = number_of(sum(map(len, groups.values())), "claim")
    everywhere, nowhere, undecided = (groups.pop(key, []) for key in (tuple(variants), (), None))
    listed = f"{', '.join(variants[:-1])} and {variants[-1]}"
    sentences = [
        f"Of the {total} that can be checked, {_that_hold(everywhere)} under each of the variants {listed} in which "
        f"they can be{_in_one(judgements, variants, everywhere)}, and {len(nowhere)} under none"
        f"{_in_one(judgements, variants, nowhere)}{_in_part(nowhere)}."
    ]
    for pattern, found in groups.items():
        titles = "; ".join(each.title for each in found)
        sentences.append(f"Under {' and '.join(pattern or ())} alone {_that_hold(found)}: {titles}.")
    if undecided:
        words = "is" if len(undecided) == 1 else "are"
        titles = "; ".join(each.title for each in undecided)
        sentences.append(f"Under at least one of the variants {len(undecided)} {words} undecided: {titles}.")
    return sentences


def _in_one(judgements: Judgements, variants: Sequence[str], found: Sequence[Judgement]) -> str:
    """Say how many of these claims can be checked under one variant only, as formulas can; empty for none."""
    number = sum(sum(each.id in judgements.of(name) for name in variants) == 1 for each in found)
    return f" ({number} of them can be checked under one variant only)" if number else ""


def _in_part(found: Sequence[Judgement]) -> str:
    """Say of how many of these claims, which do not hold, some part holds under the first variant; empty for none."""
    number = sum(Verdict.HOLDS in each.topics.values() for each in found)
    return f", though {number} of these in part" if number else ""


def _that_hold(found: Sequence[Judgement]) -> str:
    return f"{len(found)} {SENTENCES[Verdict.HOLDS][len(found) != 1]}"


def grouped(judgements: Judgements, variants: Sequence[str]) -> dict[tuple[str, ...] | None, list[Judgement]]:
    """Return the claims by the variants under which they hold.

    The key of claims that hold wherever they are judged has all variants, and that of claims which are undecided under
    one of them is None.
    """
    groups: dict[tuple[str, ...] | None, list[Judgement]] = {}
    for id in dict.fromkeys(id for name in variants for id in judgements.of(name)):
        found = {name: of[id] for name in variants if id in (of := judgements.of(name)) and of[id].verdict}
        verdicts = [each.verdict for each in found.values()]
        holds = tuple(name for name, each in found.items() if each.verdict is Verdict.HOLDS)
        key = None if Verdict.UNDECIDED in verdicts else tuple(variants) if len(holds) == len(found) else holds
        if found:
            groups.setdefault(key, []).append(next(iter(found.values())))
    return groups


def _counted(judgements: Sequence[Judgement]) -> str:
    numbers = counts(judgements)
    words = [f"{number} {SENTENCES[verdict][number != 1]}" for verdict, number in numbers.items() if number]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


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

POWER, ENVIRONMENTS, OPPOSITE = "power", "true in environments", "opposite under"
"""The columns that the table of claims has only if something is known of a claim, and what the legend says of them."""

EXPLAINED = {
    POWER: "the power of the number of runs that the sweeps promise, which is how often so many runs show the claim by "
    "itself, with a 95 % interval",
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
        POWER: [f"{each.power.percent()} of {each.promised:,} runs" if each.power else "" for each in listed],
        ENVIRONMENTS: [environments_in_words(unchanged.get(each.id, each)) for each in listed],
        OPPOSITE: [", ".join(turned.get(each.id, ())) for each in listed],
    }
    return {name: cells for name, cells in every.items() if name not in EXPLAINED or any(cells)}


def legend(study: Study, shown: Collection[str]) -> str:
    """Return what is to be said of the table of claims with these columns."""
    sentences = [
        "Each claim was computed until it was decided, at fixed numbers of runs over which its error is spread.",
        "A claim of a difference does not hold where its interval shows the opposite, or that no difference is left "
        "that matters.",
        "Its estimate is that of the decisive comparison, with the interval that decided it.",
    ]
    if further := [words for column, words in EXPLAINED.items() if column in shown]:
        sentences.append(f"Then follow {'; and '.join(further)}.")
    return " ".join([*sentences, *([SELECTED] if study.described.cite else [])])


def decisive_in_words(part: Comparison) -> str:
    """Return a comparison, what is found, and what is claimed of it."""
    return f"{part.compared}: {part.found}" + (f", claimed {part.claimed}" if part.claimed else "")
