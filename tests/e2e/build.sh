# tests/e2e/build.sh – make without building: impossible targets give one line, flags that a compiler does
# not know are omitted, and build files of another folder stay there.
. tests/check.sh
unset MAKEFLAGS MFLAGS BIN BUILD SAN

refused() { # words that the one line before make's own must hold, settings…
    words=$1
    shift
    make "$@" BUILD="$work/b" "$work/b/flags" >/dev/null 2>"$work/err" && say "$* is no error"
    [ "$(grep -vc '^make' "$work/err")" = 1 ] && grep -q "$words" "$work/err" ||
        say "$*: $(cat "$work/err")"
    [ -e "$work/b/flags" ] && say "$*: goes on the second time"
}
refused '64-bit target' OPT='-O2 -m32'
refused 'C11' OPT='-O2 -std=c99'

compile() { make -n V=1 BUILD="$work/b" "$@" "$work/b/src/clock.o" | grep -e ' -c src/clock.c'; }
compile MARCH=no-such-processor | grep -q -e '-m[a-z]*=no-such' && say 'an unknown MARCH is passed on'
compile MARCH=x86-64 CC=gcc | grep -q -e '-march=' || [ "$(uname -m)" != x86_64 ] ||
    say 'a known MARCH is not passed on'

make -n V=1 BUILD="$work/b" | grep -oE -e '-o [^ ]+' | grep -v -e "-o $work/b/" | grep . >"$work/out" &&
    say "BUILD= elsewhere, and the tree is written: $(head -3 "$work/out")"
exit $failed
