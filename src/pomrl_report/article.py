"""Typeset the article of a study with stored numbers.

The Typst document `article/article.typ` imports `study.typ` (`templates/article.typ` here), with functions to look
up numbers by name.
"""

import json
import math
import re
import shutil
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import typst

from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.studies import Study
from pomrl.drawing.figures_of_study import FOLDER, file_stem
from pomrl.judging.answer import answer_text, count_groups, headline
from pomrl.judging.comparison_rows import Comparison
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.study_claims import load_judgements
from pomrl.results.intervals import Interval
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles, write_file
from pomrl_report.address import repository_address
from verdicts.parts import LOOKS


def write(study: Study) -> Path:
    """Typeset the article of a study; return its path.

    Raises:
        StoreError: The article is missing, results are not final, a name is unknown, or Typst fails.
    """
    if not study.article.is_file():
        raise StoreError(
            f"{study.argument}: article/article.typ is missing; write a Typst document that imports study.typ"
        )
    text = study.article.read_text(encoding="utf-8")
    judgements = load_judgements(study)
    if not judgements.main or judgements.older or any(judgement.provisional for judgement in judgements.main):
        state = "older than the present code" if judgements.older else "provisional or missing"
        raise StoreError(f"{study.argument}: its results are {state}; run `pomrl reproduce {study.argument}`")
    pdf = typeset(study, values(study, judgements, text), pictures(study, text))
    path = study.outputs / "article.pdf"
    write_file(path, pdf, f"pomrl reproduce {study.argument} article")
    return path


def values(study: Study, judgements: Judgements, text: str) -> Mapping[str, Any]:
    """Return the values for an article's lookups, as JSON types."""
    variants = headline(study, judgements)
    tables = sorted((study.folder / "pages").glob("*.csv"))
    swept = dict.fromkeys(re.findall(r"#setting\(\s*\"([^\"]+)\"", text))
    return {
        "title": study.config.title,
        "links": {**study.config.links, **({"code": address} if (address := repository_address()) else {})},
        "headline": variants,
        "config": {
            "error": f"{100 * study.config.error:g}\u202f%",
            "runs": f"{study.config.runs:,}",
        },
        "claims": {name: {id: _judge(judgement) for id, judgement in judgements.of(name).items()} for name in variants},
        "order": [judgement.id for judgement in judgements.first_under(variants)],
        "counts": count_groups(study, judgements),
        "signs": {str(verdict): look.sign for verdict, look in LOOKS.items()},
        "answer": answer_text(study, judgements, in_short=True),
        "settings": {name: _settings(study, name) for name in swept if name in study.sweeps},
        "tables": {path.stem: json.loads(pd.read_csv(path).to_json(orient="records")) for path in tables},
    }


def _judge(judgement: Judgement) -> Mapping[str, Any]:
    return {
        "title": judgement.title,
        "where": judgement.where,
        "verdict": str(judgement.verdict or "reported"),
        "runs": judgement.runs,
        "decisive": _comparison(judgement.decisive),
        "parts": [_comparison(comparison) for comparison in judgement.comparisons],
    }


def _comparison(comparison: Comparison) -> Mapping[str, Any]:
    numbers = {"estimate": comparison.estimate, "lower": comparison.lower, "upper": comparison.upper}
    finite = {name: number if math.isfinite(number) else None for name, number in numbers.items()}
    text = Interval(**numbers).text() if comparison.runs else f"{comparison.estimate:.3f}"
    return {
        "compared": comparison.compared,
        "claimed": comparison.claimed,
        "runs": comparison.runs,
        "found": text,
        **finite,
    }


def _settings(study: Study, name: str) -> Mapping[str, str]:
    experiments = [setting.experiment for setting in study.settings(name)]
    settings = [flat_settings(scientific_settings(experiment), experiment.options) for experiment in experiments]
    return {key: ", ".join(dict.fromkeys(str(setting.get(key, "")) for setting in settings)) for key in settings[0]}


def pictures(study: Study, text: str) -> Mapping[str, bytes]:
    """Return an article's figures as PNG by name; StoreError if damaged."""
    named = dict.fromkeys(re.findall(r"#figure-of\(\s*\"([^\"]+)\"", text))
    names = {name: file_stem(study, name) for name in named}
    figure_files = {name: DerivedFiles(study.outputs / FOLDER / f"{names[name]}.json") for name in names}
    return {name: files.content(f"{names[name]}.png") for name, files in figure_files.items() if files.is_made}


def typeset(study: Study, named: Mapping[str, Any], images: Mapping[str, bytes]) -> bytes:
    """Return the article as an undated PDF; StoreError if Typst fails."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(study.article.parent, root, dirs_exist_ok=True)
        template = resources("pomrl_report").joinpath("templates/article.typ").read_bytes()
        (root / "study.typ").write_bytes(template)
        (root / "values.json").write_text(json.dumps({**named, "figures": list(images)}), encoding="utf-8")
        for name, picture in images.items():
            (root / f"{name}.png").write_bytes(picture)
        try:
            return typst.compile(root / "article.typ", root=root, ignore_system_fonts=True, timestamp=0)
        except typst.TypstError as error:
            raise StoreError(f"{study.argument}/article/article.typ: {_in_one_line(error)}") from error


def _in_one_line(error: typst.TypstError) -> str:
    message = " ".join(re.sub(r"^panicked with: |\\?\"", "", error.message).split())
    lines = re.findall(r"article\.typ:(\d+)", " ".join([error.diagnostic, *error.trace]))
    return f"line {lines[0]}: {message}" if lines else message
