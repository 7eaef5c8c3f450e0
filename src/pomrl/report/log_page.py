"""The page of a report on a log: one file of HTML that needs no other file and no network."""

from pomrl.models_and_logs.horizon_reports import HorizonReport
from pomrl.models_and_logs.logs import Log
from pomrl.report.encoding import data_uri
from pomrl.report.environment import environment


def html(report: HorizonReport, log: Log, picture: bytes, title: str) -> str:
    """Return the page.

    Args:
        report: The report.
        log: The log that it is about.
        picture: The figure of expected losses, a PNG image.
        title: The name of the log.
    """
    policies = report.actions.groupby("task", sort=False)["action"].agg(list)
    return (
        environment()
        .get_template("log.html.j2")
        .render(
            title=title,
            report=report,
            log=log,
            states=report.actions["state"].unique(),
            policies=list(policies.items()),
            losses=report.losses,
            tasks=report.tasks.to_dict("records"),
            picture=data_uri(picture, "image/png"),
        )
    )
