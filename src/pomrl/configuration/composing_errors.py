"""What goes wrong while Hydra composes a configuration, in one line that names the argument and a remedy."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from pomrl.configuration.composed import GROUPS, ConfigError, UnknownOptionError, UnreadableOverrideError
from pomrl.configuration.study_sweeps import GROUP

_EMPTY = re.compile(rf"\+*({'|'.join(GROUPS)})=\s*\{{\s*\}}")
"""An override that Hydra takes without a word, and the defaults remain."""

_KEY = re.compile(r"[+~]{0,2}[\w./@:-]+")
"""What stands before the = of an override."""

SEVERAL = "several values are a sweep, for which -m has to be on the command line"


@contextmanager
def composing(overrides: Iterable[str] = ()) -> Generator[None, None, None]:
    """Turn whatever is raised in this context because of somebody's YAML or overrides into an error of one line.

    Args:
        overrides: The overrides that are composed, of which the line quotes the wrong one.

    Raises:
        ConfigError: Something was raised that is neither a ConfigError nor an error of the operating system.
    """
    try:
        for override in overrides:
            if _EMPTY.fullmatch(override):
                raise ConfigError(f"{override}: it chooses no option and changes no key")
            _refuse_to_delete(override)
        yield
    except OverrideParseException as error:
        raise UnreadableOverrideError(_unreadable(str(error.override))) from error
    except Exception as error:
        of_system = isinstance(error, OSError) and not isinstance(error, HydraException)
        if of_system or isinstance(error, ConfigError | MemoryError):
            raise
        kind = UnknownOptionError if isinstance(error, MissingConfigException) else ConfigError
        raise kind(_in_words(error, overrides)) from error


def _refuse_to_delete(override: str) -> None:
    """Raise a ConfigError if an override deletes what every experiment needs."""
    if not override.startswith("~"):
        return
    from pomrl.configuration.overrides import LABELS  # here, because asking for help needs no components
    from pomrl.configuration.parsing import KEYS

    key, _, _ = override[1:].partition("=")
    if key in {*KEYS, *GROUPS, "reading"} - {*LABELS}:
        raise ConfigError(f"{override}: every experiment needs {key}; {key}=... gives another value")


def _unreadable(override: str) -> str:
    """Say which part of an override Hydra cannot read."""
    key, equals, value = override.partition("=")
    if not equals or not _KEY.fullmatch(key):
        return f"{override}: it has to be key=value, such as sigma=0.01"
    return f"{override}: the value {value} of {key} cannot be read; text with signs is quoted: '{key}=\"...\"'"


def _in_words(error: Exception, overrides: Iterable[str]) -> str:
    """Return the line for an error of Hydra, of OmegaConf, or of something that neither of them expects."""
    text = " ".join(str(error).split())
    match error:
        case MissingMandatoryValue():
            return f"{error.full_key}: a value is missing"
        case MissingConfigException(missing_cfg_file=str() as path) if "/" in path:
            of_sweep = path.startswith(f"{GROUP}/")  # whose name may be the path of a study
            group, _, name = path.partition("/") if of_sweep else path.rpartition("/")
            there = f"; there are {', '.join(sorted(error.options))}" if error.options else ""
            own = "; --config-dir names a folder with options of your own" if group in GROUPS else ""
            return f"{group}={name}: there is no such option{there}{own}"
        case ConfigCompositionException() if text.startswith("Ambiguous value for argument '"):
            return f"{text.split(chr(39))[1]}: {SEVERAL}"
        case ConfigCompositionException() if text.startswith("Multiple values for "):
            group = text.split()[3].rstrip(".")
            return f"+{group}: this group has an option already; to choose another leave out the +: {group}=..."
        case ConfigCompositionException() if text.startswith("Could not override '"):
            key = text.split("'")[1]
            given = [override for override in overrides if override.lstrip("+~").startswith(f"{key}=")]
            return f"{[*given, key][0]}: {_unknown(key)}"
        case ConfigCompositionException() if text.startswith("Could not delete "):
            deleted = [override for override in overrides if override.startswith("~")]
            return f"{', '.join(deleted) or text}: there is nothing of this name to leave out"
        case RecursionError():
            return "the configuration contains itself, or is nested too deeply"
        case HydraException() | OmegaConfBaseException():
            return text
        case _:
            return f"the configuration cannot be composed: {text or type(error).__name__}"


def _unknown(key: str) -> str:
    from pomrl.configuration.overrides import LABELS  # here, because asking for help needs no components
    from pomrl.configuration.parsing import KEYS

    group, _, name = key.rpartition(".")
    if key in LABELS:
        return f"it is no setting of the experiment but a label; give it as +{key}=..."
    if group:
        return f"the option of {group} that was chosen has no key {name}; {group}=... --help lists its keys"
    return f"unknown key; the keys are {', '.join(KEYS)}, and those of the groups {', '.join(GROUPS)}"
