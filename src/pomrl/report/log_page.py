"""The page of a report on a log: one file of HTML that needs no other file and no network."""

from pomrl.models_and_logs.horizon_reports import HorizonReport
from pomrl.models_and_logs.logs import Log
from pomrl.report.rendering import rendered


def html(report: HorizonReport, log: Log, picture: bytes, title: str) -> str:
    """Return the page.

    Args:
        report: The report.
        log: The log that it is about.
        picture: The figure of expected losses, a PNG image.
        title: The name of the log.
    """
    policies = report.actions.groupby("task", sort=False)["action"].agg(list)
    return rendered("log.html.j2", title=title, report=report, log=log, picture=picture, policies=policies)
