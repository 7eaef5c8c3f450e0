"""The first page of the site: question, answer, live figure, the board's first rows, commands.

Its texts are those of README.md, and its numbers are looked up or computed.
"""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
from docs.build.paper import anchor

from pomrl.configuration.studies import find
from pomrl.drawing.figure import figure_caption, figures_of
from pomrl.drawing.style import look
from pomrl.judging.judgements import Judgement, read_published
from pomrl.results.intervals import half_width
from pomrl.results.tables import markdown
from pomrl.study import PUBLISHED, experiment, tables
from pomrl_report.claim_tables import main_claims_table, verdict_sign
from pomrl_report.markup import symbols
from pomrl_studies.board import losses, scores
from pomrl_studies.board.learner import shipped_learners

ROOT = Path(__file__).parents[2]

STUDY = find("pomrl2023")

SIGNS = (
    "The three verdicts are as printed, repaired and computed: ✓ holds, ✗ does not hold, ≈ difference too small to "
    "matter, ? undecided, – not in the source. [All claims](src/pomrl_studies/pomrl2023/claims.csv) have numbers, and "
    "[errata](src/pomrl_studies/pomrl2023/pages/errata.md) the errors of the paper."
)
"""The explanation of the table of verdicts."""

LEARNERS = ("oracle", "without_meta", "pomrl", "ada_pomrl", "aggregating")
"""The learners of Figure 5, in the order of live.js."""

SIGMAS = (0.01, 0.025, 0.047)
"""The similarities of Figure 5, with lines of the library."""

RUNS = 200
"""The number of the published runs in the lines of the library."""

TOP_ROWS = 5
"""The number of the board's rows on the page."""

SCRIPTS = (
    "src/pomrl_report/templates/chart.js",
    "src/pomrl_studies/pomrl2023/pages/planning.js",
    "docs/build/live.js",
    "docs/build/live_page.js",
)
"""The scripts of the live figure."""

PICTURE = "outputs/readme/figure_5_dependence_on_tasksimilarity_intervals.png"
"""The published picture, shown without JavaScript."""

CLAIMS = ("Q1.1", "Q1.6", "Q3.1")
"""The claims about Figure 5 below the live figure."""

SLIDERS = (
    ("sigma", "Similarity σ of the tasks (largest variance)", 0.002, 0.08, 0.001, 0.01),
    ("m", "Transitions m of each pair", 1, 40, 1, 5),
    ("T", "Tasks T", 2, 40, 1, 15),
    ("S", "States S", 6, 30, 1, 10),
    ("gamma", "Discount factor γ of planning", 0, 0.99, 0.01, 0.99),
)
"""The identifier, label, range, step and first value of each slider."""


def home() -> str:
    """Return the first page as Markdown."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    question, _, body = readme.partition("![")
    answer = body[body.index("**In short**") :].partition("\n\n")[0]
    section = body[body.index("## Does the paper hold?\n\n") :]  # an error if README changes
    terms = section.partition("\n\n")[2].partition("\n\n|")[0]
    commands = "".join(re.findall(r"(?:^    .*\n)+", body, re.MULTILINE)[:2])
    return "\n\n".join(
        [
            question.rstrip(),
            answer,
            "## Does the paper hold?",
            symbols(terms),
            main_claims_table(STUDY, read_published(STUDY), with_links),
            SIGNS,
            "## Figure 5, computed while you look",
            live_figure(),
            quotation(),
            "## The best learners",
            board_rows(),
            "[The board](docs/board.md) ranks learners on the same problems, including yours.",
            "## Commands",
            commands,
        ]
    )


def with_links(claim: Judgement) -> str:
    """Return the title of a claim, with links to evidence and code."""
    evidence = f"[{symbols(claim.title)}](src/pomrl_studies/pomrl2023/claims.csv#{anchor(claim.id)})"
    return f"{evidence} ([code](docs/paper-to-code.md#{anchor(claim.id)}))"


def live_figure() -> str:
    """Return the sliders and scripts of the live figure as HTML in Markdown."""
    sliders = "".join(
        f'<label for="live-{name}">{label}: <output id="live-{name}-shown">{first:g}</output></label>'
        f'<input type="range" id="live-{name}" min="{low:g}" max="{high:g}" step="{step:g}" value="{first:g}">'
        for name, label, low, high, step, first in SLIDERS
    )
    looks = {name: look(name, "estimator") for name in LEARNERS}
    boxes = "".join(
        f'<label style="--series: {looks[name].color}"><input type="checkbox" name="{name}" checked> '
        f"{looks[name].label}</label>"
        for name in LEARNERS
    )
    data = json.dumps(
        {
            "colors": [looks[name].color for name in LEARNERS],
            "labels": [looks[name].label for name in LEARNERS],
            "library": library_lines(),
        }
    )
    scripts = "".join(f'<script src="{path}"></script>' for path in SCRIPTS)
    return (
        f'<div id="live"><form aria-label="Settings of the figure">{sliders}</form>'
        f'<fieldset id="live-learners"><legend>Learners</legend>{boxes}</fieldset>'
        '<div id="live-chart" class="chart" role="img" aria-label="Mean loss in each task. The sentence below has its '
        'mean."></div>'
        f'<noscript><img src="{PICTURE}" alt="Figure 5 as repaired: mean loss in each task"></noscript>'
        '<p id="live-text" aria-live="polite"></p></div>'
        f'<script type="application/json" id="live-data">{data}</script>{scripts}'
    )


def library_lines() -> list[dict[str, object]]:
    """Compute the mean losses and intervals in each task with the library, by sigma and learner."""
    lines = []
    for sigma, estimator in product(SIGMAS, LEARNERS):
        overrides = [f"sigma={sigma}", f"estimator={estimator}", "gamma_schedule=fixed", "gamma_schedule.gamma=0.99"]
        composed = experiment(PUBLISHED, overrides)
        (table,) = tables(composed.problem, [composed.method], range(RUNS))
        losses = table.pivot_table(index="run", columns="task", values="planning_loss").to_numpy()
        points = np.stack([losses.mean(0), half_width(losses)]).round(4)
        lines.append({"sigma": sigma, "learner": estimator, "mean": points[0].tolist(), "half": points[1].tolist()})
    return lines


def quotation() -> str:
    """Return the paper's sentence on Figure 5, and the verdicts on its claims."""
    (figure,) = (figure for figure in figures_of(STUDY) if figure.name == "dependence_on_tasksimilarity")
    (sentence,) = (text for text in figure_caption(figure.docstring).split("\n\n") if text.startswith("The paper:"))
    judgements = read_published(STUDY)
    lines = [f"> {symbols(' '.join(sentence.split()))}", ""]
    for id in CLAIMS:
        title = next(claim.title for claim in judgements.first_under(STUDY.config.headline) if claim.id == id)
        signs = ", ".join(f"{name} {verdict_sign(judgements, name, id)}" for name in STUDY.config.headline)
        lines.append(f"- [{symbols(title)}](src/pomrl_studies/pomrl2023/claims.csv#{anchor(id)}): {signs}")
    return "\n".join(lines)


def board_rows() -> str:
    """Return the first rows of the board as a Markdown table."""
    ranked = scores.score(shipped_learners().values(), scores.by_learner(losses.read_losses()), {})
    first = [score for score in ranked if score.rank][:TOP_ROWS]
    rows = [
        [str(score.tier), score.learner.label, score.rank.text(1), f"{score.mean_percent:.0f}\u00a0%"]
        for score in first
        if score.rank
    ]
    return markdown(["tier", "learner", "mean rank", "loss relative to no meta-learning"], rows)
