# Completion of paceline for bash, made of what the program says about itself. Installed as
# share/bash-completion/completions/paceline.
_paceline() {
  local word=${COMP_WORDS[COMP_CWORD]} command=
  local program=${COMP_WORDS[0]} i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      -*) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  if [ -z "$command" ] && [[ $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2> /dev/null |
      sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')" -- "$word")
  elif [[ $word == -* ]]; then
    # shellcheck disable=SC2086  # no command, no argument
    mapfile -t COMPREPLY < <(compgen -W "$("$program" $command --help 2> /dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
  else
    case ${COMP_WORDS[COMP_CWORD - 1]} in
      --scheme | --schemes) mapfile -t COMPREPLY < <(compgen -W "$("$program" schemes | sed -n 's/^\([a-z][a-z0-9-]*\)$/\1/p')" -- "$word") ;;
      *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
  fi
}
complete -F _paceline paceline
