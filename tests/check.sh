# tests/check.sh – for tests that run programs: source it, check each thing, end with `exit $failed`.
#
#   command || say "what is wrong: $(cat "$work/err")"
#   command; check $? "what is true of it: $(cat "$work/err")"
#
# The status comes first: a $(command) in front of it would replace it by its own.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
say() { echo "FAILED: $*"; failed=1; }
check() { [ "$1" = 0 ] || say "$2"; } # status, what holds if it is 0
refused() { # exit code, pattern, command…: ends with that code and one line on standard error
    local code=$1 pattern=$2 rc
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc = "$code" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$pattern" "$work/err"
    check $? "$*: exit $rc, not $code and one line with '$pattern': $(cat "$work/err")"
}
refuses() { # what, pattern of the message, command…: exit 2 with that message
    local what=$1 pattern=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q -- "$pattern" "$work/err"
    check $? "$what is refused: $(cat "$work/err")"
}
number() { grep -o "\"$1\": [^,]*" "$2" | head -1 | sed 's/.*: //'; } # of a name, the first in a JSON file
needs_two_cpus() { # on one cpu units take turns, and programs print a warning
    [ "$(nproc)" -gt 1 ] || { echo 'there is one cpu, two are needed'; exit 77; }
}
has_opencl() { "$BIN/cu-info" | grep -q '^opencl:0'; }
# From now on OpenCL lists no device but the cpus'.
only_cpus_of_opencl() {
    mkdir "$work/icd"
    cp /etc/OpenCL/vendors/pocl*.icd "$work/icd" 2>/dev/null && export OCL_ICD_VENDORS=$work/icd
}
skip_under_sanitizers() {
    [ -n "${SAN:-}" ] && { echo "under sanitizers this takes too long: $1"; exit 77; }
}
# Sets what mpirun needs here: from now on, or for one command, as in (with_mpi; mpirun …).
with_mpi() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # The leak checker runs after MPI's plug-ins are unloaded and cannot attribute their blocks.
    [ -z "${SAN:-}" ] || export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
}
verified() { # program, arguments…: exit 0 and "verified": true
    "$BIN/$1" "${@:2}" --json - >"$work/json" 2>"$work/err" || say "$* exits $?: $(cat "$work/err")"
    grep -q '"verified": true' "$work/json" || say "$*: not verified"
}
norms_of() { "$BIN/$1" --class S "${@:2}" --json - | norms; } # program, arguments…
norms() { tr -d ' \n' | grep -o '"residual":\[[^]]*\],"error":\[[^]]*\]'; } # of NPB-MZ's JSON
