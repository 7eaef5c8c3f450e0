"""Makes the studies known to Hydra, in this project's applications alone.

Hydra imports every plugin in each of its applications; so that this one costs them nothing, all of ours is imported
inside functions. `StudySearchPath` adds nothing to the search path of other applications.
"""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class StudySearchPath(SearchPathPlugin):
    """Adds the options and sweeps of studies to an application whose primary configuration is ours."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folders of the studies that are shipped, and register what YAML files call."""
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
