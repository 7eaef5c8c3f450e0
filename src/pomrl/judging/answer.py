"""The answer of a study as Markdown: how many claims hold."""

from collections.abc import Mapping, Sequence
from itertools import chain

from pomrl.configuration.composed import number_of
from pomrl.configuration.studies import Study
from pomrl.judging.agreement import counts, opposite
from pomrl.judging.judgements import Judgement, Judgements
from verdicts.parts import Verdict

VERBS = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.DOES_NOT_HOLD: ("does not hold", "do not hold"),
    Verdict.NO_DIFFERENCE: ("shows no difference of interest", "show no difference of interest"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
}
"""The predicates for one claim and for several, by verdict."""

Groups = dict[tuple[str, ...] | None, list[Judgement]]
"""Claims by the variants under which they hold. The key None has claims that are undecided under some variant."""


def answer_text(study: Study, judgements: Judgements, *, in_short: bool = False) -> str:
    """Describe how many claims hold under each headline variant.

    `in_short` omits titles of claims, and `certainty`.
    """
    named, decided, few = _select_claims(study, judgements)
    variants = headline(study, judgements)
    sure = "" if in_short else certainty(study, judgements)
    if not named:
        command = f"pomrl reproduce {study.argument} claims"
        return f"No claims are judged yet under the variants of the study; {command} judges them."
    if not decided:
        return "No claim of the study has a verdict; only estimates are reported."
    if len(few) == len(decided):
        return sure
    if len(variants) == 1:
        lead = f"Of the {number_of(len(decided), 'claim')} that can be checked"
        return f"{lead}, {count_verdicts(decided)}. {sure}".rstrip()
    groups = group_by_variants(judgements, variants)
    exact = [claim for claim in chain(*groups.values()) if is_judged_once(claim, judgements, variants)]
    shared = {
        key: members for key, claims in groups.items() if (members := [claim for claim in claims if claim not in exact])
    }
    paragraphs = [
        _experiments(shared, judgements, variants, in_short=in_short) if shared else "",
        _formulas(exact),
        sure,
    ]
    return "\n\n".join(filter(None, paragraphs))


def _experiments(groups: Groups, judgements: Judgements, variants: Sequence[str], *, in_short: bool) -> str:
    number = sum(map(len, groups.values()))
    everywhere, nowhere, undecided = (groups.pop(key, []) for key in (tuple(variants), (), None))
    some, in_part = (
        sum(map(len, groups.values())),
        sum(_holds_in_part(claim.id, judgements, variants) for claim in nowhere),
    )
    names = f"{', '.join(variants[:-1])} and {variants[-1]}"
    text = (
        f"**Experiments.** Of the {number_of(number, 'claim')} that can be checked under several of the variants "
        f"{names}, {_hold(everywhere)} under each and {len(nowhere)} under none"
    )
    text += f" ({in_part} of these in part)" if in_part else ""
    text += f". {some} {_verb(Verdict.HOLDS, some)} under some" if some else ""
    text += f", and {len(undecided)} {_verb(Verdict.UNDECIDED, len(undecided))}" if undecided else ""
    lines = [
        f"- Under {' and '.join(key or ())} alone {_hold(claims)}: {_titles(claims, judgements, variants)}."
        for key, claims in groups.items()
    ]
    if undecided:
        verb = _verb(Verdict.UNDECIDED, len(undecided))
        titles = _titles(undecided, judgements, variants)
        lines.append(f"- Under at least one of the variants {len(undecided)} {verb}: {titles}.")
    return "\n".join([f"{text}.", *([] if in_short or not lines else ["", *lines])])


def _formulas(claims: Sequence[Judgement]) -> str:
    if not claims:
        return ""
    number = number_of(len(claims), "claim")
    lead = f"**Formulas and single checks.** Of the {number} that can be checked under one variant only"
    in_part = sum(claim.verdict is not Verdict.HOLDS and Verdict.HOLDS in claim.topics.values() for claim in claims)
    text = f"{lead}, {count_verdicts(claims)}" + (f" ({in_part} of these in part)" if in_part else "")
    return f"{text}."


def certainty(study: Study, judgements: Judgements) -> str:
    """Describe the probability of error, and verdicts outside the headline."""
    named, decided, few = _select_claims(study, judgements)
    if len(few) == len(decided):
        return (
            f"None of the {number_of(len(decided), 'claim')} with stored runs is decided yet, because fewer than "
            f"{study.config.runs:,} runs are stored; pomrl reproduce {study.argument} adds them."
        )
    variants, error = headline(study, judgements), f"{100 * study.config.error:.0f} %"
    sentences = [
        "A verdict is wrong if infinitely many runs would give the opposite one. The error of "
        f"{error} is divided equally among the claims{' and readings' * (len(variants) > 1)}, and each share among the "
        "comparisons of a claim (Bonferroni). The probability of even one wrong verdict is therefore at most about "
        f"{error}, if the claims were stated before these runs were looked at. For an effect of 0.5 to 1.5 % of the "
        "comparator, *holds* and *no difference* are both possible."
    ]
    verdicts = [judgement.verdict for name in variants for judgement in judgements.of(name).values()]
    if n_equal := verdicts.count(Verdict.NO_DIFFERENCE):
        sentences.append(
            f"{number_of(n_equal, 'verdict')} {'is' if n_equal == 1 else 'are'} *no difference of interest*: the "
            "interval shows that the number is closer to the threshold of its claim than the smallest effect of "
            "interest (by default 2 % of the comparator)."
        )
    if few:
        few_runs = f"Too few runs are stored for {len(few)} of the claims"
        sentences.append(f"{few_runs}; pomrl reproduce {study.argument} adds them.")
    sentences_beside = [_other_variant(judgements, name, variants[0], error) for name in named if name not in variants]
    return " ".join([*sentences, *sentences_beside])


def _other_variant(judgements: Judgements, name: str, main: str, error: str) -> str:
    decided = [judgement for judgement in judgements.of(name).values() if judgement.verdict]
    turned = len(opposite(judgements, main, [name]))
    opposites = (
        f"{number_of(turned, 'verdict')} {'is' if turned == 1 else 'are'} opposite to {main}"
        if turned
        else f"no verdict is opposite to {main}"
    )
    return (
        f"Under the variant {name}, {count_verdicts(decided)} of the {number_of(len(decided), 'claim')} that can be "
        f"checked; {opposites}. The probability of even one wrong verdict is again at most about {error}, "
        "on the same condition."
    )


def _select_claims(study: Study, judgements: Judgements) -> tuple[list[str], list[Judgement], list[Judgement]]:
    named = [name for name in study.config.variants if judgements.of(name)]
    decided = [judgement for judgement in judgements.first_under(named) if judgement.verdict]
    return named, decided, [judgement for judgement in decided if judgement.provisional]


def count_verdicts(judgements: Sequence[Judgement]) -> str:
    """Format counts of verdicts, such as `3 hold and 1 is undecided`."""
    phrases = [f"{number} {_verb(verdict, number)}" for verdict, number in counts(judgements).items() if number]
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def _verb(verdict: Verdict, number: int) -> str:
    return VERBS[verdict][number != 1]


def _hold(claims: Sequence[Judgement]) -> str:
    return f"{len(claims)} {_verb(Verdict.HOLDS, len(claims))}"


def _titles(claims: Sequence[Judgement], judgements: Judgements, variants: Sequence[str]) -> str:
    return "; ".join(f"{claim.title}{_open_variants(claim.id, judgements, variants)}" for claim in claims)


def _open_variants(id: str, judgements: Judgements, variants: Sequence[str]) -> str:
    verdicts = {name: judgements.of(name)[id].verdict for name in variants if id in judgements.of(name)}
    names = [name for name, verdict in verdicts.items() if verdict is Verdict.UNDECIDED]
    return f" (undecided under {' and '.join(names)})" if names else ""


def _holds_in_part(id: str, judgements: Judgements, variants: Sequence[str]) -> bool:
    judged_variants = [judgements.of(name)[id] for name in variants if id in judgements.of(name)]
    return any(Verdict.HOLDS in judgement.topics.values() for judgement in judged_variants)


def is_judged_once(claim: Judgement, judgements: Judgements, variants: Sequence[str]) -> bool:
    """Return whether only one of several variants has the claim."""
    return len(variants) > 1 and sum(claim.id in judgements.of(name) for name in variants) == 1


def headline(study: Study, judgements: Judgements) -> list[str]:
    """Return the judged headline variants; if none, the first judged variant."""
    return [name for name in study.config.headline if judgements.of(name)] or judgements.variants[:1]


def group_by_variants(judgements: Judgements, variants: Sequence[str]) -> Groups:
    """Group claims by the variants with the verdict `holds`.

    The key is all `variants` if the claim holds wherever it is judged. It is None if an undecided verdict could make it
    hold, or not hold, under all.
    """
    groups: Groups = {}
    for id in dict.fromkeys(id for name in variants for id in judgements.of(name)):
        decided = {name: by_id[id] for name in variants if id in (by_id := judgements.of(name)) and by_id[id].verdict}
        verdicts = [judgement.verdict for judgement in decided.values()]
        holds = tuple(name for name, judgement in decided.items() if judgement.verdict is Verdict.HOLDS)
        n_undecided = verdicts.count(Verdict.UNDECIDED)
        is_mixed = 0 < len(holds) < len(decided) - n_undecided
        key = holds if is_mixed or not n_undecided else None
        key = tuple(variants) if key is not None and len(holds) == len(decided) else key
        if decided:
            groups.setdefault(key, []).append(next(iter(decided.values())))
    return groups


def count_groups(study: Study, judgements: Judgements) -> Mapping[str, int]:
    """Count the claims of each group of `group_by_variants`, as in `answer_text`.

    The keys are `claims` (the total), `all`, `none`, `undecided`, and variants such as `printed+computed`. Claims that
    are judged under one of several variants only are counted by `formulas`, and those that hold by `formulas_hold`.
    """
    variants = headline(study, judgements)
    names = {tuple(variants): "all", (): "none", None: "undecided"}
    groups = group_by_variants(judgements, variants)
    single = [claim for claim in chain(*groups.values()) if is_judged_once(claim, judgements, variants)]
    by_name = {
        names.get(key, "+".join(key or ())): sum(claim not in single for claim in claims)
        for key, claims in groups.items()
    }
    formulas = {"formulas": len(single), "formulas_hold": sum(claim.verdict is Verdict.HOLDS for claim in single)}
    return {"all": 0, "none": 0, "undecided": 0, **by_name, "claims": sum(by_name.values()), **formulas}
