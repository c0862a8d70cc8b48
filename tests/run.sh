#!/usr/bin/env bash
# tests/run.sh TEST… – runs unit tests (build/tests/test_…) and scripts (tests/e2e/….sh), two more at a
# time than there are cores (at most 6, or JOBS), each with its own time limit and private caches; prints
# the seconds that each took, of CPU and by the clock, what failed and, last, "N passed, N failed[, N
# skipped]". Environment: BUILD, BIN, SAN as make sets them; EK_LONG=1 runs of these only the long tests:
# tests/e2e/long/….sh, and tests that know EK_LONG with their long parts; TESTS=word selects tests whose
# name contains it.
set -u
export LC_ALL=C BIN=${BIN:-bin}
# Threads that wait for one another sleep: there are more of them than cores, of many tests at a time.
export OMP_WAIT_POLICY=passive
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# LLVM, inside the kernel compilers, has signal stacks of its own. Where a library opened late has
# thread-local variables, gcc 12's LeakSanitizer guesses where they lie, and may die of the guess.
export ASAN_OPTIONS=use_sigaltstack=0:intercept_tls_get_addr=0:detect_stack_use_after_return=1
# Leaks of the vendors' libraries are not ours.
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
limit=$([ -z "${EK_LONG:-}" ] && echo 600 || echo 2400)
# Compiling kernels with PoCL is most of the cost of many tests: all of them, and later runs, share one
# cache. PoCL knows a kernel by its text and options, and its own and LLVM's version.
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$(realpath -m "${BUILD:-build}/pocl")}
export POCL_EXTRA_BUILD_FLAGS=-cl-kernel-arg-info # as tests/fakegpu/pocl.c has it
mkdir -p "$POCL_CACHE_DIR"
find "$POCL_CACHE_DIR" -maxdepth 1 -name 'tempfile_*' -mmin +60 -delete # PoCL leaves some empty ones
cores=$(nproc)
# Many tests wait for ranks, signals or timeouts, so two more than there are cores run at a time.
lanes=${JOBS:-$(((cores < 4 ? cores : 4) + 2))}

number_before() { # "PASSED  ] 7 test", summed over the groups of a program; log
    sed -n "s/.*\[  $1  \] \([0-9]*\) test.*/\1/p" "$2" | awk "{ n += \$1 } END { print n + 0 }"
}

run() { # file for "passed failed skipped", name, command…
    local counts=$1 name=$2 rc good bad seconds log=$1.log
    shift 2
    local TIMEFORMAT='%U %S %R'
    { time timeout -k 5 "$limit" "$@" </dev/null >"$log" 2>&1; } 2>"$counts.cpu"
    rc=$?
    seconds=$(awk 'END { printf "%.1f of %.1f s", $1 + $2, $3 }' "$counts.cpu")
    if [ $rc = 77 ]; then
        echo 0 0 1 >"$counts"
        echo "  skip   $name: $(tail -1 "$log")"
        return
    fi
    good=$(number_before PASSED "$log") bad=$(number_before FAILED "$log")
    [ $rc = 0 ] && [ "$good" = 0 ] && good=1
    [ $rc != 0 ] && [ "$bad" = 0 ] && bad=1
    echo "$good" "$bad" 0 >"$counts"
    if [ $rc = 0 ]; then
        echo "  ok     $name ($good), $seconds"
    else
        echo "  FAILED $name (exit $rc)
$(grep -vE '^\[ (RUN|      OK)' "$log" | tail -40 | sed 's/^/         /')"
    fi
}

names=() paths=()
add() { # path
    local name=${1##*/} text=tests/${1##*/}.c
    [[ $1 != *.sh ]] || { text=$1 name=e2e/${1##*e2e/} name=${name%.sh}; }
    [[ $name == *${TESTS:-}* ]] || return
    [ -z "${EK_LONG:-}" ] || [[ $1 == */long/* ]] || grep -q EK_LONG "$text" || return
    names+=("$name") paths+=("$1")
}
for path; do add "$path"; done
# The longest first, so that others run beside them: these (those that wait most, then those that
# compute most), then as they are given.
longest=(e2e/{okada_nodes,fakegpu,kirchhoff_mig_stopped,cu_run,memory,kirchhoff_mig,ranks,cu_run_faults,survive,mcsem_surveys,mcsem,replay,kirchhoff_killed,machine,mcsem_emdata}
    test_{mcsem_device,cu_sched_evenkeel,backends_laws,backends_cache,okada_mogi_search} e2e/{library,kirchhoff_tt,signals,capacity,kirchhoff_job})
[ -z "${EK_LONG:-}" ] || longest=(e2e/{okada_nodes,memory,long/mcsem_uncertainty,cu_run_faults,long/oclgrind,replay,survive,mcsem})
order=()
for long in "${longest[@]}"; do
    for i in "${!names[@]}"; do [ "${names[i]}" = "$long" ] && order+=("$i"); done
done
for i in "${!names[@]}"; do [[ " ${order[*]} " == *" $i "* ]] || order+=("$i"); done

lane() { # number: takes tests as long as there are any
    export XDG_CACHE_HOME=$work/cache.$1
    mkdir -p "$XDG_CACHE_HOME"
    for i in "${order[@]}"; do
        mkdir "$work/taken.$i" 2>/dev/null || continue
        case ${paths[i]} in
        *.sh) run "$work/counts.$i" "${names[i]}" bash "${paths[i]}" ;;
        *) run "$work/counts.$i" "${names[i]}" "${paths[i]}" ;;
        esac
    done
}
for ((l = 0; l < lanes; l++)); do lane $l & done
wait
for i in "${!names[@]}"; do # a lane that died has failed
    [ -s "$work/counts.$i" ] && cat "$work/counts.$i" || echo 0 1 0
done >"$work/all"
read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$work/all")
echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ]
