# src/man/completion.sh bash|zsh PROGRAM… – completion of the options that --help lists.
shell=$1
shift
for p; do
    name=${p##*/}
    words=$({ "$p" --help all; [ "$name" != cu-run ] || for c in plan run calibrate; do echo "  $c"; "$p" $c --help all; done; } |
        sed -nE 's/^  (--[a-z-]+|plan$|run$|calibrate$).*/\1/p' | sort -u | tr '\n' ' ')
    if [ "$shell" = bash ]; then
        echo "complete -o default -W '$words' $name"
    else
        echo "compdef \"_arguments '*:file:_files' ${words:+$(printf "'%s' " $words)}\" $name"
    fi
done
