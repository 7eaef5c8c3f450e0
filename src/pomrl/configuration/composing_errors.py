"""What goes wrong while Hydra composes a configuration, in one line: Hydra's own, but for the mistakes people make."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from hydra.errors import HydraException, MissingConfigException, OverrideParseException

from pomrl.configuration.composed import GROUPS, ConfigError, UnreadableOverrideError
from pomrl.configuration.sources import folder_of, sweep_names
from pomrl.configuration.wording import unknown_key


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
        if not error.override.isascii():
            key, _, value = error.override.partition("=")
            what = f"letters beyond a to z must be quoted: '{key}=\"{value}\"'"
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
    if path.startswith("experiment/"):
        return _no_sweep(path.partition("/")[2], sorted(error.options or ()))
    group, _, name = path.rpartition("/")
    own = f"; options of your own are files {group}/NAME.yaml of --config-dir FOLDER" if group in GROUPS else ""
    what = unknown_key(f"{group}={name}", name, sorted(error.options or ()), "there is no such option", "there are")
    return f"{what}{own}" if group else " ".join(str(error).split())


def _no_sweep(word: str, of_paper: Sequence[str]) -> str:
    """Say that there is no such sweep; its word is `NAME`, of the paper's study, or `STUDY/NAME`."""
    study, _, name = word.rpartition("/")
    folder = folder_of(study)
    if study and not folder.is_dir():
        return f"experiment={word}: there is no study {study}, shipped or in this folder"
    known = sweep_names(folder) if study else of_paper
    return unknown_key(f"experiment={word}", name, known, "there is no such sweep", "there are")
