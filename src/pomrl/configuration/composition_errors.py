"""Turn exceptions of compositions into messages of one line."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from pomrl.configuration.composed import (
    GROUPS,
    ConfigError,
    UnknownSweepError,
    UnreadableOverrideError,
    unknown_key,
)
from pomrl.configuration.sources import OF_PAPERS, PAPERS_REMEDY, folder_of, known_studies, sweep_names


@contextmanager
def composing() -> Generator[None, None, None]:
    """Turn exceptions of a composition into a ConfigError of one line.

    ConfigError, MemoryError and errors of the operating system are raised unchanged.
    """
    try:
        yield
    except OverrideParseException as error:
        what = "an override must be key=value, such as sigma=0.01; quote text with special characters: 'key=\"...\"'"
        key, equals, value = error.override.partition("=")
        if equals and key.isascii() and not value.isascii():
            what = f"non-ASCII letters must be quoted: '{key}=\"{value}\"'"
        raise UnreadableOverrideError(f"{error.override}: {what}") from error
    except MissingConfigException as error:
        raise _no_option(error) from error
    except Exception as error:
        is_of_system = isinstance(error, OSError) and not isinstance(error, HydraException)
        if is_of_system or isinstance(error, ConfigError | MemoryError):
            raise
        if "'${reading}'" in str(error):
            raise ConfigError(
                "the defaults of the primary configuration must list reading: NAME, such as repaired, after the groups"
            ) from error
        is_of_value = isinstance(error, OmegaConfBaseException)
        line = describe_error(error) if is_of_value else " ".join(str(error).split())
        raise ConfigError(line or type(error).__name__) from error


def _no_option(error: MissingConfigException) -> ConfigError:
    path = error.missing_cfg_file or ""
    if path.startswith("experiment/"):
        sweep = path.partition("/")[2]
        return UnknownSweepError(describe_unknown_sweep(sweep, sorted(error.options or ())), sweep)
    group, _, name = path.rpartition("/")
    own = f"; add user-defined options as {group}/NAME.yaml in --config-dir FOLDER" if group in GROUPS else ""
    what = unknown_key(f"{group}={name}", name, sorted(error.options or ()), "unknown option")
    return ConfigError(f"{what}{own}" if group else " ".join(str(error).split()))


def describe_unknown_sweep(sweep: str, paper_sweeps: Sequence[str]) -> str:
    """Format a message for a sweep without a file."""
    study, _, name = sweep.rpartition("/")
    folder = folder_of(study)
    if study in OF_PAPERS and not folder.is_dir():
        return f"experiment={sweep} {PAPERS_REMEDY}"
    if study and not folder.is_dir():
        return f"experiment={sweep}: unknown study {study}; it is neither shipped nor a folder"
    if others := [] if study else [other.name for other in known_studies() if name in sweep_names(other)]:
        meant = " or ".join(f"experiment={other}/{name}" for other in others)
        return f"experiment={sweep}: the paper has no such sweep (did you mean {meant}?)"
    sweeps = sweep_names(folder) if study else paper_sweeps
    return unknown_key(f"experiment={sweep}", name, sweeps, "unknown sweep")


def describe_error(error: OmegaConfBaseException, file: str = "") -> str:
    """Format an error as KEY: REASON."""
    line = str(error).partition("\n")[0]
    reason = line.partition(" raised while resolving interpolation: ")[2].strip('"') or line
    return f"{error.full_key}{file}: {reason}" if error.full_key else " ".join(str(error).split())
