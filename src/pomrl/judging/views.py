"""The judgements of a study in words and in Markdown; terminal and page use the same words."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from pomrl.configuration.study import Study
from pomrl.configuration.wording import number_of
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import counts, opposite
from pomrl.judging.verdict import REPORTED, Comparison, Verdict
from pomrl.results.tables import markdown

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."
"""The explanation of the mark (s)."""

SENTENCES = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.DOES_NOT_HOLD: ("does not", "do not"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
}
"""What is said of one claim, and of several, with each verdict."""

MARGINS = (0.05, 0.1, 0.15)
"""The margins at which verdicts are shown side by side, as shares of the comparator's mean."""


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
        DECISIVE: [_decisive(each.decisive) for each in listed],
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


def claims_page(study: Study, judgements: Judgements, families: Mapping[str, Sequence[str]]) -> str:
    """Return a page of Markdown with the answer, a table of all claims, the reasons, and all comparisons.

    Args:
        study: The study.
        judgements: Its judgements.
        families: The single variants of each family, under which the opposite of a verdict is looked for.
    """
    named = [name for name in study.described.variants if judgements.of(name)]
    single = dict.fromkeys(name for of_family in families.values() for name in of_family)
    turned = opposite(judgements, study.unchanged if study.unchanged in named else named[0], list(single))
    listed = judgements.listed(named)
    cells = columns(study, judgements, named, turned)
    sections = {
        f"Under the variant {name}": [_other(each, judgements.of(name)) for each in listed] for name in named[1:]
    }
    sections |= {
        "Why, where a claim does not hold or is not decided": [
            f"- **{each.id}** {each.why}" for each in listed if each.why
        ],
        "Rules that were revised after verdicts had been seen": [_revision(each) for each in listed if each.revision],
        "At the promised numbers of runs": [_at_promised(listed)],
        "With other margins": [with_other_margins(listed)],
    }
    lines = [f"# The claims: {study.described.title}", "", answer(study, judgements), ""]
    lines += [older, ""] if (older := older_in_words(study, judgements)) else []
    lines += [legend(study, cells), "", _table(cells)]
    for heading, of_section in sections.items():
        if any(of_section):
            lines += [f"## {heading}", "", *filter(None, of_section), ""]
    return "\n".join([*lines, "## All comparisons", "", _comparisons(judgements, named)])


def _table(cells: Mapping[str, Sequence[str]]) -> str:
    return markdown([*cells], [*zip(*cells.values(), strict=True)])


def _decisive(part: Comparison) -> str:
    return f"{part.compared}: {part.found}" + (f", claimed {part.claimed}" if part.claimed else "")


def _other(main: Judgement, under: Mapping[str, Judgement]) -> str:
    """Return a line on a claim that is turned, open or not judged under another variant; empty for the others."""
    theirs = under.get(main.id)
    if theirs is None:
        return f"- **{main.id}** is not judged under it."
    if theirs.verdict is Verdict.UNDECIDED:
        few = theirs.is_decided_by_too_few
        verdict = f"is undecided, because {theirs.reason}" if few else f"is undecided after {theirs.runs:,} runs"
    elif theirs.verdict is not main.verdict:
        verdict = f"{in_words(theirs.verdict)}, otherwise {in_words(main.verdict)}"
    else:
        return ""
    return f"- **{main.id}** {verdict}. {_decisive(theirs.decisive)}. {theirs.note}".rstrip()


def _revision(each: Judgement) -> str:
    new = f"by the new rule {each.at_promised_runs or 'unknown'}; at precision {each.verdict}"
    rules = f"by the old rule {each.verdict_by_old_rule}, {new}"
    return (
        f"- **{each.id}** ({each.revised_on}) {each.revision}. "
        f"At the promised number of runs, with Holm's correction: {rules}."
    )


def _number(runs: int) -> str:
    """Return a number of runs; empty for 0, which is that of numbers that are known."""
    return f"{runs:,}" if runs else ""


def _at_promised(listed: Sequence[Judgement]) -> str:
    few = [each.runs_of_promised for each in listed if each.provisional]
    some = f"{number_of(len(few), 'claim')} {'has' if len(few) == 1 else 'have'} fewer runs than promised"
    note = f"Provisional: {some} (as few as {min(few)}).\n\n" if few else ""
    parts = [each.decisive for each in listed]
    cells = {
        "claim": [each.id for each in listed],
        "runs": [_number(each.runs_of_promised) for each in listed],
        "with Holm's correction": [str(each.at_promised_runs or "") for each in listed],
        "by itself": [str(each.by_itself or "") for each in listed],
        "decisive comparison, 95 %": [f"{part.compared}: {part.found_at_promised_runs}" for part in parts],
    }
    return note + _table(cells)


def with_other_margins(listed: Iterable[Judgement]) -> str:
    """Return a table of the comparisons that rest on a margin, or on a word such as "near", with verdicts at others.

    All verdicts of a row follow from its interval, and no run is added for them. Those for other meanings of a word are
    stored with the comparison (`Part.instead`).
    """
    heads = ["claim", "compared", "estimate [interval]", *(f"margin {margin:.0%}" for margin in MARGINS), "other words"]
    rows: list[list[str]] = []
    for id, part in ((each.id, part) for each in listed for part in each.comparisons if part.margin or part.instead):
        at_margins = [in_words(part.at_margin(margin)) if part.margin else "" for margin in MARGINS]
        rows.append([id, part.compared, part.found, *at_margins, part.instead])
    return markdown(heads, rows)


def _comparisons(judgements: Judgements, variants: Sequence[str]) -> str:
    heads = ("claim", "variant", "compared", "estimate [interval]", "claimed", "runs", "verdict")
    rows = [
        [each.id, name, part.compared, part.found, part.claimed, _number(part.runs), in_words(part.verdict)]
        for name in variants
        for each in judgements.of(name).values()
        for part in each.comparisons
    ]
    return markdown(heads, rows)
