"""Add studies to the search path of this project's applications.

Hydra imports plugins in all applications, so this project is imported inside functions.
"""

import sys

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class StudySearchPath(SearchPathPlugin):
    """A search path with the options and sweeps of studies."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folders of the command and of shipped studies, and register resolvers."""
        if ours := sys.modules.get("pomrl.configuration.sources"):  # otherwise another application
            for folder in ours.searched_folders():
                search_path.append("study", f"file://{folder}")
        main = [element.path for element in search_path.get_path() if element.provider == "main"]
        if not main or not str(main[0]).endswith("conf"):
            return
        from pomrl.configuration.sources import PUBLISHED

        if str(main[0]).removeprefix("file://") == str(PUBLISHED.folder):
            from pomrl.configuration.composition import register_short_names
            from pomrl.configuration.resolvers import register_resolvers

            register_resolvers()
            register_short_names()
            for folder in PUBLISHED.folders[1:]:
                search_path.append("study", f"file://{folder}")
