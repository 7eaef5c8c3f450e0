"""Makes the sweeps of studies known to Hydra, in this project's applications alone.

Hydra imports every plugin in each of its applications; so that this one costs them nothing, all of ours is imported
inside functions. `StudySearchPath` adds nothing to the search path of other applications.
"""

import sys

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class StudySearchPath(SearchPathPlugin):
    """Adds the folders of studies to the search path of an application whose primary configuration is ours."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the studies that are shipped, and those in the current folder that the command line names."""
        main = [element.path for element in search_path.get_path() if element.provider == "main"]
        if not main or not main[0].endswith("conf"):
            return
        from pomrl.configuration.sources import PUBLISHED, named_folders, shipped_folders
        from pomrl.configuration.study_sweeps import append_studies

        if main[0] == str(PUBLISHED.folder):
            named = [name for word in sys.argv[1:] for name in word.removeprefix("experiment=").split(",")]
            append_studies(search_path, (*shipped_folders(), *named_folders(named)))
