#!/usr/bin/env bash
# tests/proof.sh – `make proof`: what a sceptic would run, one row each: the claim, a command that
# anybody can type, whether the claim holds, and the output. One page, PROOF=FILE
# ($BUILD/proof.html).
#
# The table's first column is the kind of claim; ONLY=word selects rows that contain it. Peers
# (PEER_BT=…, PEER_EMPYMOD=… as in `make bench`) are skipped with the reason where missing. `bash
# tests/proof.sh FUNCTION …` runs one of the functions below, as the page's commands do.
# Environment: BIN, BUILD as make sets them. Exit 1: a row is red. Last line: "N held, N failed, N
# skipped".
set -u
cd "$(dirname "$0")/.." || exit 1
export BIN=${BIN:-bin} BUILD=${BUILD:-build} LC_ALL=C OMP_WAIT_POLICY=passive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
page=${PROOF:-$BUILD/proof.html}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$page.part" || exit 2
rm "$page.part"

# Norms of a run, its layout and all else left out.
norms() { "$@" --quiet --profile=off --json - | tr -d ' \n' | grep -o '"residual":\[[^]]*\]'; }
# The same norms whatever units, policies and ranks compute them. Arguments: programs.
same_norms() {
    local p one
    for p; do
        one=$(norms "$BIN/$p" --class W --layout 1x1)
        for how in "--layout 2x1 --schedule static" "--layout 2x1 --schedule evenkeel" "--layout 1x2 --schedule dynamic"; do
            [ "$(norms "$BIN/$p" --class W $how)" = "$one" ] || { echo "$p $how: other norms"; return 1; }
        done
        [ "$(norms mpirun --oversubscribe -n 2 "$BIN/$p" --class W --layout 1x1)" = "$one" ] || { echo "$p: other norms on 2 ranks"; return 1; }
        echo "$p: $one"
    done
}
# No run of any policy is faster than what is called its bound.
bounds() {
    "$BIN/$1" --class W --layout 2x1 --compare --quiet --profile=off --json "$work/json" >"$work/table" && tail -25 "$work/table" &&
        python3 - "$work/json" <<'END'
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
low = [r["schedule"] for r in runs if r["lower_bound_s"] and r["lower_bound_s"] > r["computation_s"] * (1 + 1e-9)]
print(len(runs), "policies, below their bound:", low or "none")
sys.exit(bool(low) or len(runs) < 10)
END
}
searches() { # the published number of accepted models
    "$BIN/mogi" okada_mogi/examples/campi.json --quiet --json "$work/json" --out "$work/out" &&
        grep '"accepted": 1859,' "$work/json"
}
exact_is_brute() {
    for method in exact brute; do
        "$BIN/okada" okada_mogi/examples/parkfield.json --trials 376000000:377000000 --method $method --quiet --out "$work/$method" || return 1
    done
    cmp "$work/exact" "$work/brute" && wc -l <"$work/brute"
}
peer() { # benchmark, variables: where none is set, skipped
    local v
    for v in "${@:2}"; do [ -n "${!v:-}" ] && break; done
    [ -n "${!v:-}" ] || { echo "no peer: set ${*:2}"; return 77; }
    BENCH=$1 bash tests/bench/run.sh
}
starpu() {
    pkg-config --exists starpu-1.3 || { echo 'no StarPU here (libstarpu-dev)'; return 77; }
    BENCH=starpu bash tests/bench/run.sh
}
unit() { # words: every unit test whose name holds one of them, with the project's own runner
    local word tests=()
    for word; do tests+=("$BUILD"/tests/test_*"$word"*); done
    TESTS=test_ bash tests/run.sh $(printf '%s\n' "${tests[@]}" | grep -v '\.') | tail -30
    return "${PIPESTATUS[0]}"
}

[ $# = 0 ] || { "$@"; exit; }

# kind | claim | command
rows='
reference | BT-MZ, SP-MZ, LU-MZ: the RMS norms of the official suite, class A | for p in bt sp lu; do $BIN/$p-mz --class A --layout 1x1 --npb || exit 1; done
reference | Okada and Mogi: displacements of published and quadrature tables | unit okada_mogi_models
reference | Mogi: the published set of accepted models | searches
reference | layered-earth dipole fields: reference values to 1e-6 | unit mcsem_forward
reference | travel times: analytic times in linear velocities, an independent eikonal solution | unit kirchhoff_shot kirchhoff_eikonal
agreement | the same norms to the last bit on any units, policies and ranks | same_norms bt-mz sp-mz lu-mz
agreement | an exact search keeps what brute force keeps | exact_is_brute
agreement | the same bits on the instruction levels that share them | SMALL=1 bash tests/bits.sh
agreement | devices compute what the host does: laws of every back end | unit backends
bounds | BT-MZ: no policy beats its lower bound | bounds bt-mz
bounds | SP-MZ: no policy beats its lower bound | bounds sp-mz
bounds | simulator: the bound against brute force, prices certify it | unit cu_bound cu_loss
papers | tables and figures of the five papers, each row within its band | python3 tests/replay.py
faults | a minute of kills, freezes, full disks: the same results | MINUTES=1 bash tests/soak.sh
peers | official NPB-MZ (Fortran), one core | peer npb_core PEER_BT PEER_SP PEER_LU
peers | empymod, Dipole1D | peer mcsem PEER_EMPYMOD PEER_DIPOLE1D
peers | StarPU: cost of a task, makespans | starpu
'
escape() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'; }
trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }
held=0 failed=0 skipped=0
while IFS='|' read -r kind claim command; do
    kind=$(trim "$kind") claim=$(trim "$claim") command=$(trim "$command")
    [ -n "$kind" ] && [[ "$kind $claim" == *${ONLY:-}* ]] || continue
    start=$SECONDS shown=$command # as anybody can type it
    [ "$(type -t "${command%% *}")" != function ] || shown="bash tests/proof.sh $command"
    (eval "$command") >"$work/log" 2>&1 </dev/null
    case $? in
    0) verdict=holds held=$((held + 1)) ;;
    77) verdict=skipped skipped=$((skipped + 1)) ;;
    *) verdict=fails failed=$((failed + 1)) ;;
    esac
    printf '  %-8s %-10s %s (%d s)\n' $verdict "$kind" "$claim" $((SECONDS - start))
    [ $verdict = holds ] || tail -5 "$work/log" | sed 's/^/                      /'
    printf '<tr class="%s"><td>%s</td><td>%s<details><summary><code>%s</code></summary><pre>%s</pre></details></td><td>%s</td><td>%d</td></tr>\n' \
        $verdict "$kind" "$(escape <<<"$claim")" "$(escape <<<"$shown")" "$(tail -40 "$work/log" | escape)" $verdict $((SECONDS - start)) >>"$work/rows"
done <<<"$rows"
{
    sed 's/@TITLE@/Evenkeel: proof/' src/head.html
    cat <<END
<style>
  td { white-space: normal; vertical-align: top; } td:nth-child(2) { text-align: left; } pre { overflow-x: auto; font-size: .8rem; }
  tr.holds td:nth-child(3) { color: var(--good); } tr.fails td:nth-child(3) { color: var(--bad); font-weight: 700; } summary { color: var(--soft); cursor: pointer; }
</style>
</head>
<body>
<h1>$held claims hold, $failed fail, $skipped not tried</h1>
<p class="facts">Evenkeel $("$BIN/bt-mz" --version | sed 's/.*) //;q') on $(uname -n), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1 | escape), $(nproc) cpus, $(date -u +'%Y-%m-%d %H:%M UTC'). Commands are typed in the tree after make, with BIN=bin BUILD=build; each row opens to what was printed.</p>
<div class="scroll"><table>
<thead><tr><th scope="col">kind</th><th scope="col" style="text-align:left">claim, command</th><th scope="col">verdict</th><th scope="col">s</th></tr></thead>
<tbody>
$(cat "$work/rows" 2>/dev/null)
</tbody></table></div>
</body></html>
END
} >"$page.part" && mv "$page.part" "$page" || exit 2
echo "$page: $held held, $failed failed, $skipped skipped"
[ $failed = 0 ]
