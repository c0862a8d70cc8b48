#!/usr/bin/env bash
# tests/e2e/mcsem_compare.sh – the thesis' experiments: five schedulers give the same model to the
# last bit (PSNR infinite); their predicted makespans on a cluster from the cells' measured times.
. tests/check.sh
skip_under_sanitizers 'e2e/mcsem runs a part of a survey'
bin=${BIN:-bin}
policies=naive,round-robin,sorted-greedy,heft,abe
[ -n "${EK_LONG:-}" ] && what=small || what=tiny
"$bin/mcsem" --generate $what --out "$work/survey.csv"
check $? 'a survey'
"$bin/mcsem" "$work/survey.csv" --compare $policies --iterations 2 --target 15 --layout 2x1 --quiet --json "$work/runs.json"
check $? 'five schedulers'
[ "$(grep -c '"psnr_db": "infinite"' "$work/runs.json")" = 5 ] &&
    # every misfit of every trial, receiver and iteration stands there once for each of the five
    [ -z "$(grep '"rms": ' "$work/runs.json" | sort | uniq -c | awk '$1 % 5')" ] &&
    [ "$(grep -c '"verified": true' "$work/runs.json")" = 5 ]
check $? 'the same model to the last bit'
"$bin/mcsem" "$work/survey.csv" --iterations 0 --schedule heft --layout 1x1 --quiet --mode exact --residual complex \
    --cells "$work/cells.json" --model-out "$work/model.csv" --json "$work/other.json" && [ -s "$work/cells.json" ]
check $? 'times of cells as tasks'

# Which nodes of a cluster are worth it: no policy beats the bound, HEFT is never worse than the rest.
cat >"$work/cluster.json" <<'JSON'
{"name": "two kinds", "nodes": [{"name": "old", "count": 3, "cores": 4, "speed": 1},
                                {"name": "new", "count": 2, "cores": 8, "like": "old", "times": 2}]}
JSON
plan() {
    "$bin/cu-plan" --machine "$work/cluster.json" "$@" --schedules $policies --csv "$work/plan.csv" >"$work/plan" &&
        [ "$(grep -c '^best of' "$work/plan")" = 5 ] &&
        awk '/^best of/ { of[$3] = $4; if ($5 < 0.999) bad = 1 }
             END { exit bad || of["heft"] > 1.001 * of["naive"] || of["heft"] > 1.001 * of["round-robin"] }' "$work/plan"
}
plan --run "$work/cells.json"
check $? "a cluster's nodes, from --cells: $(cat "$work/plan")"
CU_PROFILE_DIR=$work "$bin/mcsem" "$work/survey.csv" --iterations 0 --layout 1x1 --profile=make --quiet &&
    rm -f "$work/plan.csv" && plan --profile "$work"/mcsem-*.json
check $? "a cluster's nodes, from a profile: $(cat "$work/plan")"
exit $failed
