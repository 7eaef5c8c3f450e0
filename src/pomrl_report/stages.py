"""Stages of `pomrl reproduce` for pages, report and article."""

from pomrl.commands.reproduce_stages import StageRequest, Work
from pomrl.commands.terminal import exit_with, warn
from pomrl.judging.study_claims import load_judgements
from pomrl_report.documents import renew_all
from pomrl_report.report_files import write

NO_TYPST = "typst is not installed; run `pip install 'pomrl[article]'`"


def pages(request: StageRequest) -> Work | None:
    """Renew the documents of a study in its outputs."""

    def work() -> None:
        renew_all(request.study, load_judgements(request.study), warn)

    return work


def report(request: StageRequest) -> Work | None:
    """Write the HTML page of a study; print its path if requested."""

    def work() -> None:
        path = write(request.study, warn)
        if request.is_named:
            print(path)

    return work


def article(request: StageRequest) -> Work | None:
    """Typeset the article of a study.

    Unless requested by name, it is skipped if missing or with a given number of runs.
    """
    if not request.is_named and (request.runs is not None or not request.study.article.is_file()):
        return None

    def work() -> None:
        try:
            from pomrl_report import article  # here, because Typst is an extra of the installation
        except ModuleNotFoundError:
            if request.is_named:
                exit_with(NO_TYPST)
            warn(f"the article is left out: {NO_TYPST}")
            return
        path = article.write(request.study)
        if request.is_named:
            print(path)

    return work
