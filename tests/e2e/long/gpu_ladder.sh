# tests/e2e/long/gpu_ladder.sh – tests/bench/gpu.sh on a fake GPU: a call that runs out of time leaves a page
# that says so; the next ones continue and measure nothing twice.
# Needs BIN and BUILD; run through tests/run.sh.
unset OMP_PLACES OMP_PROC_BIND CU_LAYOUT CU_DEVICES
. tests/check.sh
needs_two_cpus
[ -e "$BUILD/fakegpu/libcuda.so.1" ] || { echo 'skipped: no fake drivers'; exit 77; }
page=$work/gpu.md

climb() { # exit code, variables…
    code=$1
    shift
    env READY=1 FAKES=1 GPUS=cuda:0 CLASSES=S COMPARE=S REPEAT=2 "$@" bash tests/bench/gpu.sh "$page" >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc = "$code" ] || say "gpu.sh $*: exit $rc instead of $code: $(cat "$page" "$work/err")"
}

climb 2 RUNGS='machine solvers' TIME=0
grep -q 'time is up after [0-9]* s: call it again, it goes on with machine' "$page" || say "a page without an end: $(cat "$page")"
climb 0 RUNGS=machine TIME=1000
first=$(grep '^First result on cuda:0' "$page") || say "no first result: $(cat "$page")"
climb 0 RUNGS='machine solvers programs together policies' POLICIES=static,heft,evenkeel TIME=1000
grep -qF "$first" "$page" || say 'a row that was there is measured again'
[ "$(grep -cE '^\| (bt|sp|lu)-mz \| S \| cuda:0 \| [01]x[01]\+1(x[0-9]+)? \| true \| [1-9]' "$page")" = 6 ] || say "solvers: $(cat "$page")"
[ "$(grep -cE '^\| (mogi|okada|brute|inversion|migration) \| cuda:0 \| [0-9.]+ \| same bits' "$page")" = 5 ] ||
    say "programs: $(cat "$page")"
grep -qE '^\| rays \| cuda:0 \| [0-9.]+ \| verified' "$page" || say "rays: $(cat "$page")"
policies=3
[ "$(grep -cE '^\| [a-z-]+ \| [1-9][0-9]* \| [0-9.]+ \| ([0-9.]+|-) \| true \|$' "$page")" = $((3 * policies)) ] ||
    say "not $policies policies each: $(cat "$page")"

# How many cores it is worth; what only a real one has.
climb 0 RUNGS='machine solvers cores busy' TIME=1000
[ "$(grep -cE '^\| (bt|sp|lu)-mz \| [1-9][0-9]* \| [1-9][0-9]* \| [1-9][0-9]* \| [0-9]+ \| [0-9.]+ \|$' "$page")" = 3 ] ||
    say "in cores: $(cat "$page")"
grep -q '^skipped: the fakes keep no records' "$page" || say "records of a fake: $(cat "$page")"

# Programs that do not start must not pass for a machine without GPUs.
mkdir "$work/bin"
printf '#!/bin/sh\necho "version GLIBC_9.9 not found" >&2\nexit 1\n' >"$work/bin/cu-info"
chmod +x "$work/bin/cu-info"
climb 1 BIN="$work/bin" RUNGS=machine
grep -q 'do not start here: version GLIBC_9.9 not found' "$work/err" || say "a library that is missing is not told: $(cat "$work/err")"
exit $failed
