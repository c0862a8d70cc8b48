# tests/e2e/long/build.sh – the tree at a path with a blank, read-only, built into a folder elsewhere,
# tested there, installed under a prefix with a blank and taken away again.
. tests/check.sh
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS BIN BUILD SAN EK_LONG
tree="$work/a tree"
mkdir "$tree" "$work/b"
git ls-files -z | xargs -0 cp -p --parents -t "$tree"
# Objects that are already there serve; some of each kind are left out, so that every rule is used.
(cd build 2>/dev/null && find . -name '*.o' -o -name flags | grep -vE '^\./(src|oracle|face|tests|bench|isa/plain/kirchhoff)/|embed' |
    xargs cp -p --parents -t "$work/b")
chmod -R a-w "$tree"
(cd "$tree" && find . | sort) >"$work/before"
build() { nice make -s -C "$tree" BUILD="$work/b" "$@" >"$work/out" 2>&1; }

build -j"$(nproc)" all || say "make: $(tail -3 "$work/out")"
grep -q warning: "$work/out" && say "warnings: $(grep -m3 warning: "$work/out")"
"$work/b/bin/bt-mz" --class S --layout 1x1 --check >"$work/out" 2>&1 || say "$(cat "$work/out")"
prefix="$work/a prefix"
build install PREFIX="$prefix" || say "make install: $(tail -3 "$work/out")"
"$prefix/bin/bt-mz" --class S --layout 1x1 --check >"$work/out" 2>&1 || say "installed: $(cat "$work/out")"
cat >"$work/use.c" <<'END'
#include <evenkeel.h>
int main(void) { return status_exit_code(EK_OK); }
END
flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs evenkeel)
eval "gcc '$work/use.c' $flags -o '$work/use'" 2>"$work/out" && LD_LIBRARY_PATH="$prefix/lib" "$work/use" ||
    say "a program of the library: $flags: $(tail -2 "$work/out")"
build uninstall PREFIX="$prefix" || say "make uninstall: $(tail -3 "$work/out")"
[ -z "$(find "$prefix" -type f)" ] || say "left behind: $(find "$prefix" -type f | head -3)"
(cd "$tree" && find . | sort) | cmp -s - "$work/before" || say 'the tree was written in'
exit $failed
