"""The judgements of a study in words and in Markdown; terminal and page use the same words."""

from collections.abc import Mapping, Sequence

from pomrl.configuration.study import Study
from pomrl.configuration.wording import number_of
from pomrl.judging.judgements import Judgement, Judgements, counted
from pomrl.judging.over_variants import opposite
from pomrl.judging.verdict import Verdict
from pomrl.results.intervals import Interval
from pomrl.results.tables import markdown

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."
"""The explanation of the mark (s)."""

REPRODUCED = {
    Verdict.REPRODUCED: ("holds", "hold"),
    Verdict.NOT_REPRODUCED: ("does not", "do not"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
}
"""What is said of one claim, and of several, with each verdict."""

ORDER = (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED)
"""The order in which verdicts are counted in sentences."""

HOLDS = {Verdict.REPRODUCED: "holds", Verdict.NOT_REPRODUCED: "does not hold", Verdict.UNDECIDED: "undecided"}
"""The verdicts on the claims of a study that reproduces no paper."""


def in_words(study: Study, verdict: Verdict | None) -> str:
    """Return what stands for a verdict, or in its place where estimates are reported."""
    if verdict is None:
        return "reported"
    return str(verdict) if study.described.cite else HOLDS[verdict]


def answer(study: Study, judgements: Judgements) -> str:
    """Return the sentences that say how many claims hold under each variant that the description names."""
    named = [name for name in study.described.variants if judgements.of(name)]
    if not named:
        return f"No claims are judged yet under the variants of the study: pomrl claims {study.word} judges them."
    main, *others = named
    judged = [each for each in judgements.of(main).values() if each.verdict]
    few = [each for each in judged if each.is_decided_by_too_few]
    if not judged:
        return "No claim of the study has a verdict: estimates are reported."
    if len(few) == len(judged):
        return (
            f"Of the {number_of(len(judged), 'claim')} of which runs are stored none is decided yet, because fewer "
            f"than {study.described.analyses[0]:,} runs are stored: pomrl claims {study.word} --decide adds them."
        )
    error = f"{study.described.error:.0%}".replace("%", " %")
    sentences = [
        f"Of the {number_of(len(judged), 'claim')} that can be checked, {_counted(judged)}. "
        f"The probability that even one of these verdicts is wrong is at most {error}."
    ]
    if few:
        sentences.append(
            f"Fewer than {study.described.analyses[0]:,} runs are stored for {len(few)} of the claims: "
            f"pomrl claims {study.word} --decide adds them."
        )
    for name in others:
        theirs = [each for each in judgements.of(name).values() if each.verdict]
        turned = opposite(judgements, main, [name])
        opposed = (
            f"for {number_of(len(turned), 'claim')} the verdict is the opposite" if turned else "no verdict is turned"
        )
        sentences.append(
            f"Under the variant {name}, {_counted(theirs)} of the {number_of(len(theirs), 'claim')} that can be "
            f"checked there; {opposed}. The probability of even one wrong verdict is at most {error} there too."
        )
    return " ".join(sentences)


def _counted(judgements: Sequence[Judgement]) -> str:
    number = counted(judgements)
    words = [f"{number[verdict]} {REPRODUCED[verdict][number[verdict] != 1]}" for verdict in ORDER if number[verdict]]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def percent(share: Interval | None) -> str:
    """Return a share in percent with its interval; empty where it is not known."""
    return share.percent() if share else ""


def power_in_words(judgement: Judgement) -> str:
    """Return the power of the promised number of runs; empty where it is not known."""
    return f"{percent(judgement.power)} of {judgement.promised:,} runs" if judgement.power else ""


def environments_in_words(judgement: Judgement) -> str:
    """Return the share of environments in which a claim is true; empty where it is not known."""
    at_most = "at most " if len(judgement.comparisons) > 1 else ""
    return at_most + percent(judgement.true_in_environments) if judgement.true_in_environments else ""


def verdict_with_topics(study: Study, judgement: Judgement) -> str:
    """Return the verdict on a claim, and on each of its topics."""
    topics, word = judgement.topics, in_words(study, judgement.verdict)
    if len(topics) < 2:
        return word
    return f"{word} ({', '.join(f'{topic}: {in_words(study, verdict)}' for topic, verdict in topics.items())})"


def claims_page(study: Study, judgements: Judgements, families: Mapping[str, Sequence[str]]) -> str:
    """Return a page of Markdown with the answer, a table of all claims, the reasons, and all comparisons.

    Args:
        study: The study.
        judgements: Its judgements.
        families: The single variants of each family, under which the opposite of a verdict is looked for.
    """
    named = [name for name in study.described.variants if judgements.of(name)]
    main, *others = named
    names = dict.fromkeys(name for of_family in families.values() for name in of_family)
    single = [name for name in names if judgements.of(name)]
    turned = opposite(judgements, main, single)
    lines = [f"# The claims: {study.described.title}", "", answer(study, judgements), "", _legend(study), ""]
    lines += [_table(study, judgements, main, others, turned)]
    for name in others:
        notes = [_other(study, each, judgements.of(name).get(each.id)) for each in judgements.of(main).values()]
        lines += [f"## Under the variant {name}", "", *[line for line in notes if line], ""]
    reasons = [f"- **{each.id}** {each.why}" for each in judgements.of(main).values() if each.why]
    lines += ["## Why, where a claim does not hold or is not decided", "", *reasons, ""] if reasons else []
    revised = [_revision(each) for each in judgements.of(main).values() if each.revision]
    lines += ["## Rules that were revised after verdicts had been seen", "", *revised, ""] if revised else []
    lines += ["## At the promised numbers of runs", "", _at_promised([*judgements.of(main).values()]), ""]
    lines += ["## All comparisons", "", _comparisons(study, judgements, named)]
    return "\n".join(lines)


def _legend(study: Study) -> str:
    selected = f" {SELECTED}" if study.described.cite else ""
    return (
        "Each claim was computed until it was decided, at fixed numbers of runs over which its error is spread. Its "
        "estimate is that of the decisive comparison, with the interval that decided it. Then follow the power of the "
        "number of runs that the sweeps promise, which is how often so many runs show the claim by itself, and the "
        "share of environments in which it is true ('at most': for its hardest part), both with 95 % intervals; and "
        f"the single choices of the families of variants under which the verdict is the opposite.{selected}"
    )


def _table(
    study: Study, judgements: Judgements, main: str, others: Sequence[str], turned: Mapping[str, list[str]]
) -> str:
    heads = ["claim", main, *others, "decisive comparison, estimate [interval], claimed", "power"]
    heads += ["true in environments", "opposite under"]
    rows = []
    for each in judgements.of(main).values():
        mark = " (s)" if each.selected_on else ""
        under = [judgements.of(name).get(each.id) for name in others]
        theirs = [in_words(study, other.verdict) if other else "" for other in under]
        found = f"{each.decisive.compared}: {each.decisive.found}"
        claimed = f", claimed {each.decisive.claimed}" if each.decisive.claimed else ""
        rows.append(
            [
                f"**{each.id}**{mark} {each.statement} ({each.where})",
                verdict_with_topics(study, each),
                *theirs,
                found + claimed,
                power_in_words(each),
                environments_in_words(each),
                ", ".join(turned.get(each.id, ())),
            ]
        )
    return markdown(heads, rows)


def _other(study: Study, main: Judgement, theirs: Judgement | None) -> str:
    """Return a line on a claim that is turned, open or not judged under another variant; empty for the others."""
    if theirs is None:
        return f"- **{main.id}** is not judged under it."
    found = f"{theirs.decisive.compared}: {theirs.decisive.found}, claimed {theirs.decisive.claimed}"
    if theirs.verdict is Verdict.UNDECIDED:
        return f"- **{main.id}** is undecided after {theirs.runs:,} runs. {found}. {theirs.note}".rstrip()
    if theirs.verdict is not main.verdict:
        was = in_words(study, main.verdict)
        return f"- **{main.id}** {in_words(study, theirs.verdict)}, otherwise {was}. {found}. {theirs.note}".rstrip()
    return ""


def _revision(each: Judgement) -> str:
    assert each.revision is not None
    day, reason, before = each.revision
    return (
        f"- **{each.id}** ({day}) {reason}. At the promised number of runs, with Holm's correction: by the old rule "
        f"{before}, by the new rule {each.at_promised_runs or 'unknown'}; at precision {each.verdict}."
    )


def _at_promised(listed: Sequence[Judgement]) -> str:
    few = [each.runs_of_promised for each in listed if each.provisional]
    some = f"{number_of(len(few), 'claim')} {'has' if len(few) == 1 else 'have'} fewer runs than promised"
    note = f"Provisional: {some} (as few as {min(few)}).\n\n" if few else ""
    heads = ("claim", "runs", "with Holm's correction", "by itself", "decisive comparison, 95 %")
    rows = [
        [
            each.id,
            f"{each.runs_of_promised:,}",
            str(each.at_promised_runs or ""),
            str(each.by_itself or ""),
            f"{each.decisive.compared}: {each.fixed.text()}",
        ]
        for each in listed
    ]
    return note + markdown(heads, rows)


def _comparisons(study: Study, judgements: Judgements, variants: Sequence[str]) -> str:
    heads = ("claim", "variant", "compared", "estimate [interval]", "claimed", "runs", "verdict")
    rows = [
        [each.id, name, part.compared, part.found, part.claimed, f"{part.runs:,}", in_words(study, part.verdict)]
        for name in variants
        for each in judgements.of(name).values()
        for part in each.comparisons
    ]
    return markdown(heads, rows)
