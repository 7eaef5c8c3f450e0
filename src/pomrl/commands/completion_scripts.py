"""The scripts of shells for completion: they ask `pomrl run -sc query=SHELL`, with the line in COMP_LINE.

Each answered line is a word, and ends in a space if the word is finished. Without an answer, shells complete files.
"""

BASH = r"""
_pomrl() {
    local asked=("$1") typed=${COMP_LINE:0:COMP_POINT} line
    COMPREPLY=()
    if [[ ${1##*/} == python* ]]; then
        [[ $typed =~ ^[^[:space:]]+[[:space:]]+-m[[:space:]]+(src\.run|pomrl)[[:space:]] ]] || return
        asked+=(-m pomrl)
    fi
    local word=${typed##*[[:space:]]}
    local before=${word%"$2"}  # bash replaces only what follows the last of COMP_WORDBREAKS, such as =
    while IFS= read -r line; do
        COMPREPLY+=("${line#"$before"}")
    done < <(COMP_LINE=$typed COMP_POINT=${#typed} "${asked[@]}" run -sc query=bash 2>/dev/null)
}
[[ $(complete -p python 2>/dev/null) == *_pomrl* ]] || _pomrl_python=$(complete -p python 2>/dev/null)
complete -o nospace -o bashdefault -o default -F _pomrl pomrl python python3
"""

ZSH = r"""
_pomrl() {
    local typed="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX"
    local -a asked lines finished open
    asked=(${(Q)words[1]})
    if [[ ${asked[1]:t} == python* ]]; then
        if [[ $words[2] != -m || $words[3] != (src.run|pomrl) ]] || (( CURRENT < 4 )); then
            $_pomrl_python "$@"
            return
        fi
        asked+=(-m pomrl)
    fi
    lines=(${(f)"$(COMP_LINE=$typed COMP_POINT=${#typed} $asked run -sc query=zsh 2>/dev/null)"})
    open=(${lines:#* }) finished=(${${(M)lines:#* }% })
    if (( $#lines )); then
        compadd -S '' -- $open
        compadd -- $finished
    else
        _files
    fi
}
[[ $_comps[python] == _pomrl ]] || typeset -g _pomrl_python=${_comps[python]:-_files}
compdef _pomrl pomrl python python3
"""

FISH = r"""
function __pomrl_is_module
    commandline -cp | string match -qr -- '-m\s+(src\.run|pomrl)\s'
end
function __pomrl
    set -l program (commandline -opc | string match -v '*=*')[1]
    __pomrl_is_module; and set -a program -m pomrl
    set -lx COMP_LINE (commandline -cp | string collect)
    set -lx COMP_POINT (string length -- $COMP_LINE)
    set -l lines ($program run -sc query=fish 2>/dev/null)
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c pomrl -k -f -a '(__pomrl)'
complete -c python -n __pomrl_is_module -k -f -a '(__pomrl)'
complete -c python3 -n __pomrl_is_module -k -f -a '(__pomrl)'
"""

INSTALL = {"bash": BASH, "zsh": ZSH, "fish": FISH}
"""The code to install completion, by shell."""

UNINSTALL = {
    "bash": """
complete -r pomrl python python3
eval "$_pomrl_python"
unset -f _pomrl
unset _pomrl_python
""",
    "zsh": """
compdef $_pomrl_python python python3
compdef -d pomrl
unfunction _pomrl
unset _pomrl_python
""",
    "fish": """
complete -e -c pomrl
functions -e __pomrl
function __pomrl_is_module  # erasing single completions of python would erase all of them
    false
end
""",
}
"""The code to remove completion, by shell."""
