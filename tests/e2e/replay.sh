# tests/e2e/replay.sh – what is replayed of the papers is what is expected, and a sabotaged policy turns
# it red. Needs BUILD.
set -u
bad=0
say() { echo "FAILED: $*"; bad=1; }
for what in npb cmp; do
    "$BUILD/bench/replay_$what" >/dev/null || say "replay_$what fails"
done
for sabotage in npb:static-pcf=static-pcf:pcf=50 cmp:abe=round-robin cmp:evenkeel=naive; do
    REPLAY_AS=${sabotage#*:} "$BUILD/bench/replay_${sabotage%%:*}" >/dev/null && say "$sabotage passes"
done
exit $bad
