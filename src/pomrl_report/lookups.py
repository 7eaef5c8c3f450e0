"""Look up verdicts and numbers in documents by name.

NAME.md.in has calls such as `{estimate(Q1.5, repaired)}`, or `{holds(beyond/G1, default)}` for another study. A check
such as `holds` leaves no text. The numbers of a sentence must be estimated from equal numbers of runs.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.studies import Study
from pomrl.judging.answer import answer_text, count_groups
from pomrl.judging.comparison_rows import Comparison
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.views import verdict_label
from pomrl_report.address import repository_address
from pomrl_report.claim_tables import main_claims_table
from verdicts.parts import Verdict

SUFFIX = ".in"
"""The suffix of a document with calls."""

PLACE = re.compile(r"\{([a-z_]{4,})\(([^(){}]*)\)\}")
"""A call in a document. A name has at least four letters, so that `{2m(t-1)}` in a formula is no call."""

ARGUMENT = re.compile(r'\s*(?:(\w+)="([^"]*)"|([^,"]+))')
"""An argument, or one with a name and a quoted value, which may have commas."""

SENTENCE_END = re.compile(r"(?<=[.:?!])\s+|\n\s*\n|\s\|\s")
"""Where a sentence, a paragraph or a cell of a table ends."""

COMPARED = re.compile(r".+? less (.+?) at γ_eval, (.+), relative, in pairs")
"""A comparison of relative losses: the other learner, and the place, such as `forest, spread 0.05`."""

TYPOGRAPHY = {
    r"(?<=[\d%]) (?=%|\[-?\d)": "\u00a0",
    r"(?<=\d), (?=-?[\d.]+\])": ",\u00a0",
    r"(?<![\w-])-(?=\d)": "\u2212",
}
"""Replacements in looked-up numbers: no-break spaces within them, and minus signs."""

CHECKS = {
    "holds": Verdict.HOLDS,
    "fails": Verdict.DOES_NOT_HOLD,
    "alike": Verdict.NO_DIFFERENCE,
    "undecided": Verdict.UNDECIDED,
}
"""The verdict that each check demands under all given variants."""


@dataclass(frozen=True)
class Results:
    """The judgements of a study, and of others on demand."""

    study: Study
    read: Callable[[str], tuple[Study, Judgements]]
    """A function from a study's name to the study and its judgements."""
    runs_used: set[int] = field(default_factory=set[int])
    """The numbers of runs of the comparisons looked up since it was cleared; exact numbers have none."""

    def judgement(self, id: str, variant: str) -> Judgement:
        """Return a judgement under a variant; LookupError if missing."""
        study, _, claim = id.rpartition("/")
        judgements = self.read(study or self.study.name)[1]
        if claim not in (by_id := judgements.of(variant)):
            raise LookupError(f"unknown claim {claim!r} under the variant {variant}" if by_id else _no(variant))
        return by_id[claim]

    def comparison(self, id: str, variant: str, part: str = "") -> Comparison:
        """Return the comparison with the words `part`, by default the decisive one.

        `^` before the words requires them at the beginning. A comparison with this text alone precedes others.

        Raises:
            LookupError: The claim is unknown, or not exactly one comparison matches.
        """
        comparison = self._comparison(id, variant, part)
        self.runs_used.update([comparison.runs] if comparison.runs else [])
        return comparison

    def _comparison(self, id: str, variant: str, part: str) -> Comparison:
        judgement = self.judgement(id, variant)
        if not part:
            return judgement.decisive
        pattern = ("^" if part.startswith("^") else "") + re.escape(part.removeprefix("^"))
        named = [comparison for comparison in judgement.comparisons if re.search(pattern, comparison.compared)]
        named = [comparison for comparison in named if comparison.compared == part] or named
        if len(named) != 1:
            raise LookupError(
                f"{id} under {variant} must have one comparison with the words {part!r}, got {len(named)}"
            )
        return named[0]


def _no(variant: str) -> str:
    return f"no judged claims under the variant {variant}"


def fill(
    document: str, results: Results, name: str, more_functions: Mapping[str, Callable[..., str]] | None = None
) -> str:
    """Replace the calls of a document by their values.

    `name` is the document's name in errors. `more_functions` are additional functions by name.

    Raises:
        ConfigError: A call is wrong, a verdict differs, or a sentence has numbers from unequal numbers of runs.
    """
    functions = {**_functions(results), **(more_functions or {})}
    runs_by_sentence: dict[tuple[int, int], set[int]] = {}

    def look_up(match: re.Match[str]) -> str:
        span = _sentence_span(document, match.start())
        results.runs_used.clear()
        try:
            text = typographic(_call(match[1], match[2], functions))
            _check_equal(runs_by_sentence.setdefault(span, set()), results.runs_used)
        except (LookupError, TypeError, ValueError) as error:
            raise ConfigError(f"{name}: {error.args[0]}, in: {sentence_around(document, match.start())}") from error
        return text

    return PLACE.sub(look_up, document)


def typographic(text: str) -> str:
    """Return a text with minus signs, and with no-break spaces within numbers."""
    for pattern, replacement in TYPOGRAPHY.items():
        text = re.sub(pattern, replacement, text)
    return text


def _check_equal(runs: set[int], new_runs: set[int]) -> None:
    runs |= new_runs
    if len(runs) > 1:
        numbers = " and ".join(f"{number:,}" for number in sorted(runs))
        raise ValueError(f"the numbers of a sentence must have equal numbers of runs, got {numbers}")


def sentence_around(text: str, position: int) -> str:
    """Return the sentence at a position, without calls."""
    start, stop = _sentence_span(text, position)
    return " ".join(PLACE.sub("", text[start:stop]).strip(" |\n").split())


def _sentence_span(text: str, position: int) -> tuple[int, int]:
    without_calls = PLACE.sub(lambda match: "x" * len(match[0]), text)  # a part may have a full stop
    ends = [0, *(match.end() for match in SENTENCE_END.finditer(without_calls)), len(text)]
    return max(end for end in ends if end <= position), min(end for end in ends if end > position)


def _functions(results: Results) -> dict[str, Callable[..., str]]:
    checks = {name: partial(check, results, demanded) for name, demanded in CHECKS.items()}
    lookups = {name: partial(function, results) for name, function in FUNCTIONS.items()}
    return {**checks, **lookups, "this_repository": this_repository}


def _call(function: str, arguments: str, functions: Mapping[str, Callable[..., str]]) -> str:
    named = {name: value for name, value, _ in ARGUMENT.findall(arguments) if name}
    positional = [argument.strip() for _, _, argument in ARGUMENT.findall(arguments) if argument.strip()]
    if function not in functions:
        raise LookupError(f"unknown function {function!r}; available: {', '.join(functions)}")
    return functions[function](*positional, **named)


def check(results: Results, demanded: Verdict, id: str, *variants: str) -> str:
    """Check the verdict under each variant; ValueError if one differs."""
    for variant in variants:
        if (actual := results.judgement(id, variant).verdict) is not demanded:
            raise ValueError(f"{id} under {variant}: the sentence needs {demanded!s}, got {verdict_label(actual)}")
    return ""


def verdict(results: Results, id: str, variant: str) -> str:
    """Return a verdict in words."""
    return verdict_label(results.judgement(id, variant).verdict)


def estimate(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return an estimate with its interval, as in `0.074 [0.050, 0.098]`."""
    return results.comparison(id, variant, part).estimate_text


def value(results: Results, id: str, variant: str, part: str = "", digits: str = "3") -> str:
    """Return an estimate, as in `0.074`."""
    return f"{results.comparison(id, variant, part).estimate:.{int(digits)}f}"


def size(results: Results, id: str, variant: str, part: str = "", digits: str = "3") -> str:
    """Return the absolute value of an estimate, as in `0.023`."""
    return f"{abs(results.comparison(id, variant, part).estimate):.{int(digits)}f}"


def interval(results: Results, id: str, variant: str, part: str = "", digits: str = "3") -> str:
    """Return an interval alone, as in `[0.050, 0.098]`."""
    comparison = results.comparison(id, variant, part)
    return "[{:.{digits}f}, {:.{digits}f}]".format(comparison.lower, comparison.upper, digits=int(digits))


def share(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return a share in per cent with interval, as in `7 % [5, 10]`."""
    comparison = results.comparison(id, variant, part)
    return _in_percent(comparison.estimate, comparison.lower, comparison.upper)


def reduction(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return a loss reduction with interval, as in `7 % [5, 10]` for -0.07."""
    comparison = results.comparison(id, variant, part)
    return _in_percent(-comparison.estimate, -comparison.upper, -comparison.lower)


def _in_percent(estimate: float, lower: float, upper: float) -> str:
    ends = f" [{round(100 * lower)}, {round(100 * upper)}]" if isfinite(lower) and isfinite(upper) else ""
    return f"{round(100 * estimate)} %{ends}"


def percent(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return the absolute value of a share in per cent, as in `7 %`."""
    return f"{100 * abs(results.comparison(id, variant, part).estimate):.0f} %"


def multiple(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return a ratio of losses with interval, as in `1.4 [1.3, 1.5]` for a share of 0.4."""
    comparison = results.comparison(id, variant, part)
    low, ratio, high = (f"{1.0 + end:.3g}" for end in (comparison.lower, comparison.estimate, comparison.upper))
    return f"{ratio} [{low}, {high}]"


def no_worse_in(results: Results, id: str, variant: str) -> str:
    """Name the families without a larger or undecided loss, as in `forest and queue`."""
    holding: dict[str, bool] = {}
    for _, cell, comparison in _compared_cells(results, id, variant):
        family = cell.partition(",")[0]
        holding[family] = holding.get(family, True) and comparison.verdict is Verdict.HOLDS
    return _enumerate([family for family, holds in holding.items() if holds])


def worse_where(results: Results, id: str, variant: str) -> str:
    """List larger losses, as in `7 % [5, 10] more than pooling in forest, spread 0.05`."""
    return _more_where(results, Verdict.DOES_NOT_HOLD, id, variant)


def unclear_where(results: Results, id: str, variant: str) -> str:
    """List undecided losses, in the form of `worse_where`."""
    return _more_where(results, Verdict.UNDECIDED, id, variant)


def _more_where(results: Results, verdict: Verdict, id: str, variant: str) -> str:
    excess: dict[str, list[str]] = {}
    for other, cell, comparison in _compared_cells(results, id, variant):
        if comparison.verdict is verdict:
            size = _in_percent(comparison.estimate, comparison.lower, comparison.upper)
            excess.setdefault(cell, []).append(f"{size} more than {other}")
            results.runs_used.add(comparison.runs)
    return "; ".join(f"{_enumerate(texts)} in {cell}" for cell, texts in excess.items()) or "none"


def _compared_cells(results: Results, id: str, variant: str) -> Iterator[tuple[str, str, Comparison]]:
    for comparison in results.judgement(id, variant).comparisons:
        if not (match := COMPARED.fullmatch(comparison.compared)):
            raise LookupError(f"{id}: must compare relative losses at γ_eval, got {comparison.compared!r}")
        yield match[1], match[2], comparison


def _enumerate(names: Sequence[str]) -> str:
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]]) or "none"


def gamma_star(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return γ* from a comparison, as in `0.6` for `(γ* = 0.6)`."""
    compared = results.comparison(id, variant, part).compared
    if not (gamma := re.search(r"γ\* = ([\d.]+)", compared)):
        raise LookupError(f"{compared!r} has no γ*")
    return gamma[1]


def runs(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return the number of runs, as in `16,000`."""
    return f"{results.comparison(id, variant, part).runs:,}"


def claimed(results: Results, id: str, variant: str, part: str = "") -> str:
    """Return the claimed range, as in `within ±0.1`."""
    return results.comparison(id, variant, part).claimed


def count(results: Results, group: str, study: str = "") -> str:
    """Count the claims of a group: `claims`, `all`, `none`, `undecided`, or `printed+computed`."""
    return str(count_groups(*results.read(study or results.study.name)).get(group, 0))


def answer(results: Results, study: str) -> str:
    """Return the full answer of a study."""
    return answer_text(*results.read(study))


def answer_in_short(results: Results, study: str) -> str:
    """Return the short answer of a study."""
    return answer_text(*results.read(study), in_short=True)


def main_claims(results: Results, study: str) -> str:
    """Return the table of main claims."""
    return main_claims_table(*results.read(study))


def minutes(results: Results, study: str) -> str:
    """Return the time of the published run, as in `6 minutes on 2 cores`."""
    text = (results.read(study)[0].folder / "pages" / "times.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return f"{sum(float(row['seconds']) for row in rows) / 60:.0f} minutes on {rows[0]['cores']} cores"


def this_repository() -> str:
    """Return the words `This repository`, with a link if it is hosted."""
    address = repository_address()
    return f"[This repository]({address})" if address else "This repository"


FUNCTIONS: Mapping[str, Callable[..., str]] = {
    "verdict": verdict,
    "estimate": estimate,
    "value": value,
    "size": size,
    "interval": interval,
    "share": share,
    "reduction": reduction,
    "percent": percent,
    "multiple": multiple,
    "no_worse_in": no_worse_in,
    "worse_where": worse_where,
    "unclear_where": unclear_where,
    "gamma_star": gamma_star,
    "runs": runs,
    "claimed": claimed,
    "count": count,
    "answer": answer,
    "answer_in_short": answer_in_short,
    "main_claims": main_claims,
    "minutes": minutes,
}
"""The functions of calls by name."""
