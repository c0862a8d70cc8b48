# src/man/completion.sh bash|zsh PROGRAM… – completion of the options that --help lists.
shell=$1
shift
words_of() { "$1" --help all | sed -nE 's/^  (--[a-z-]+|plan|run|calibrate)( .*)?$/\1/p' | sort -u | tr '\n' ' '; }
if [ "$shell" = zsh ]; then
    printf '#compdef'
    for p; do printf ' %s' "${p##*/}"; done
    printf '\nlocal -a words_of_it\ncase $service in\n'
fi
for p; do
    if [ "$shell" = bash ]; then
        echo "complete -o default -W '$(words_of "$p")' ${p##*/}"
    else
        echo "${p##*/}) words_of_it=($(words_of "$p")) ;;"
    fi
done
[ "$shell" = bash ] || printf 'esac\n_alternative "options:option:($words_of_it)" "files:file:_files"\n'
