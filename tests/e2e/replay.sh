# tests/e2e/replay.sh – the replay of the papers stays within its bands; sabotaged policies
# (tests/replay_sabotage.c) turn it red, and so does swapping two moldable methods; no row passes at
# half or twice its value; the page is complete. Needs BUILD, BIN.
. tests/check.sh
replay() { python3 tests/replay.py "$@"; }

if [ -z "${EK_LONG:-}" ]; then
    replay --report "$work/page.html" >"$work/log" || { say "the replay is red"; cat "$work/log"; }
    [ "$(wc -c <"$work/page.html")" -le 1000000 ] || say "the page is larger than 1 MB"
    for word in 'id="NPB-MZ"' 'id="mCSEM"' 'id="Kirchhoff"' 'id="Water-Level"' 'id="Okada-and-Mogi"' 'role="img"' '@media print'; do
        grep -q "$word" "$work/page.html" || say "the page lacks $word"
    done
    grep -Eq '(src|href)="https?:|@import|url\(' "$work/page.html" && say "the page loads something"
fi

# Paper, policy, how. Where a rule is simple or the effect is large, most rows; at least one of each.
# Those that take long are of EK_LONG alone, the others never.
sabotaged() {
    SABOTAGE=$2:$3 CU_PLAN=$BUILD/tests/replay_sabotage replay --only "$1" >"$work/log" 2>&1
    [ $? = 1 ] || { say "$1 with $2 sabotaged ($3): $(tail -1 "$work/log")"; }
}
while read -r paper policy how; do
    [[ ${EK_LONG:+x} == "$([[ $how == *-long ]] && echo x)" ]] || continue
    sabotaged "$paper" "$policy" "${how%-long}"
done <<'END'
npb_mz static-pcf fiftieth-long
npb_mz evenkeel ignore-long
npb_mz static-pcf shuffle-long
npb_mz static single-long
npb_mz dynamic fiftieth-long
npb_mz dynamic ignore-long
npb_mz guided-runtime ignore-long
npb_mz guided-runtime shuffle-long
npb_mz clustered-guided fiftieth-long
npb_mz clustered-guided shuffle-long
npb_mz evenkeel fiftieth-long
npb_mz evenkeel single-long
mcsem heft single-long
mcsem naive single-long
mcsem round-robin ignore-long
mcsem sorted-greedy ignore-long
mcsem abe shuffle-long
mcsem heft shuffle-long
mcsem evenkeel ignore-long
kirchhoff greedy ignore
kirchhoff greedy single-long
kirchhoff greedy fiftieth-long
kirchhoff dynamic single-long
okada_mogi hrdls single-long
okada_mogi hrdls ignore-long
END
methods='wlsearch=waterl'
[ -z "${EK_LONG:-}" ] || methods='taskp=datap evenkeel=taskp'
for method in $methods; do
    REPLAY_METHOD=$method replay --only waterlevel >/dev/null && say "Water-Level passes with $method"
done
if [ -n "${EK_LONG:-}" ]; then
    SABOTAGE=none:single CU_PLAN=$BUILD/tests/replay_sabotage replay --only kirchhoff >"$work/log" || say "red though nothing is sabotaged"
    exit $failed
fi

# The bands themselves: every row, judged at half, at twice its value and at nothing, is red.
python3 - <<'END' || say "a row passes at any value"
import json, glob, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "tests")
import replay
rows = [r for f in glob.glob("tests/data/replay/*.json") for g in json.load(open(f))["figures"] for r in g.get("rows", [])]
if len(rows) < 400:
    sys.exit("only %d rows" % len(rows))
for row in rows:
    value = row["expect"] if not isinstance(row["expect"], str) else row["paper"] if row["expect"] == "paper" else [3.0, 5.0]
    for factor in (0.5, 2, 0, float("nan")):
        ours = [v * factor for v in value] if isinstance(value, list) else value * factor
        given = dict(row, differs="a reason excuses nothing")
        if not replay.judge(given, {row["key"]: ours}, {row["key"]: value}, {row["key"]: value})["red"]:
            sys.exit("%s passes at %s instead of %s" % (row["what"], ours, value))
    if replay.judge(dict(row, differs="said"), {row["key"]: value}, {row["key"]: value}, {row["key"]: value})["red"]:
        sys.exit("%s is red at its own value" % row["what"])
END
exit $failed
