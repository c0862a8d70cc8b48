#!/usr/bin/env bash
# tests/e2e/library.sh – what make install leaves is enough for a program outside of the tree, and
# takes no names from it.
set -u
[ -n "${SAN:-}" ] && { echo 'sanitized builds are not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s --no-print-directory install BUILD="${BUILD:-build}" PREFIX="$work" >"$work/log" 2>&1 ||
    { echo "FAILED: make install: $(tail -1 "$work/log")"; exit 1; }
cat >"$work/outside.c" <<'EOF'
#include "backends/backend.h"
#include "cu/bench/bench.h"
#include "src/kernel.h"

/* Names that the library has inside, too. */
double line_median(double x) { return x; }
int plan_open(void) { return 1; }
int arena_take(void) { return 2; }

int main(int argc, char **argv)
{
    static const struct opt none[] = {OPT_END};
    const struct bench_program program = {
        .identity = {"outside", "a program of somebody else", "tasks/s", 8}, .command.table = none};
    return sched_count() > 0 && backend_count() > 0 && plan_open() + arena_take() == (int)line_median(3)
               ? bench_main(&program, argc, argv) : 1;
}
EOF
export PKG_CONFIG_PATH=$work/lib/pkgconfig
${CC:-cc} -std=c11 -D_GNU_SOURCE "$work/outside.c" $(pkg-config --cflags --libs evenkeel) -o "$work/outside" 2>"$work/log" &&
    "$work/outside" --help | grep -q 'a program of somebody else' && exit 0
echo "FAILED: an outside program: $(grep -m3 -iE 'error|undefined|multiple' "$work/log")"
exit 1
