"""Completion of `pomrl run` and `python -m src.run` in bash; Hydra's own knows commands of one word alone."""

from collections.abc import Sequence

from pomrl.configuration.composed import ConfigError

BASH = r"""
_pomrl_run() {
    local words word=${COMP_LINE##* }
    case $COMP_LINE in
        "pomrl run "*) words=${COMP_LINE#pomrl run } ;;
        "python -m src.run "*) words=${COMP_LINE#python -m src.run } ;;
        *) return ;;
    esac
    COMPREPLY=($(compgen -W "$(COMP_LINE="pomrl $words" pomrl run -sc query=bash)" -- "$word"))
}
COMP_WORDBREAKS=${COMP_WORDBREAKS//=}
complete -o nospace -o default -F _pomrl_run pomrl python
"""


def print_script(words: Sequence[str]) -> None:
    """Print what `eval "$(pomrl run -sc install=bash)"` evaluates, or what takes that back."""
    if [*words] not in (["install=bash"], ["uninstall=bash"]):
        raise ConfigError(f"{' '.join(words)}: must be install=bash or uninstall=bash; other shells have no completion")
    print(BASH if words[0].startswith("install") else "complete -r pomrl python; unset -f _pomrl_run")
