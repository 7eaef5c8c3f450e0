"""What goes wrong while Hydra composes a configuration, in one line: Hydra's own, but for the mistakes people make."""

from collections.abc import Generator
from contextlib import contextmanager

from hydra.errors import HydraException, MissingConfigException, OverrideParseException

from pomrl.configuration.composed import GROUPS, ConfigError, UnreadableOverrideError


@contextmanager
def composing() -> Generator[None, None, None]:
    """Turn whatever is raised in this context because of somebody's YAML or overrides into an error of one line.

    Raises:
        ConfigError: Something was raised that is neither a ConfigError nor an error of the operating system.
    """
    try:
        yield
    except OverrideParseException as error:
        what = "it has to be key=value, such as sigma=0.01; text with signs is quoted: 'key=\"...\"'"
        raise UnreadableOverrideError(f"{error.override}: {what}") from error
    except MissingConfigException as error:
        raise ConfigError(_no_option(error)) from error
    except Exception as error:
        of_system = isinstance(error, OSError) and not isinstance(error, HydraException)
        if of_system or isinstance(error, ConfigError | MemoryError):
            raise
        raise ConfigError(" ".join(str(error).split()) or type(error).__name__) from error


def _no_option(error: MissingConfigException) -> str:
    path = error.missing_cfg_file or ""
    of_sweep = path.startswith("experiment/")  # whose name may be the path of a study
    group, _, name = path.partition("/") if of_sweep else path.rpartition("/")
    there = f"; there are {', '.join(sorted(error.options))}" if error.options else ""
    own = "; --config-dir names a folder with options of your own" if group in GROUPS else ""
    return f"{group}={name}: there is no such option{there}{own}" if group else " ".join(str(error).split())
