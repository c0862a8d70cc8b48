# tests/check.sh – for tests that run programs: source it, check each thing, end with `exit $failed`.
#
#   command; check $? "what is true of it: $(cat "$work/err")"
#
# The status comes first: a $(command) in front of it would replace it by its own.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
check() { # status, what is so where it is 0
    [ "$1" = 0 ] && return
    echo "FAILED: $2"
    failed=1
}
refuses() { # what, pattern of the message, command…: exit 2 with that message
    local what=$1 pattern=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q -- "$pattern" "$work/err"
    check $? "$what is refused: $(cat "$work/err")"
}
number() { grep -o "\"$1\": [^,]*" "$2" | head -1 | sed 's/.*: //'; } # of a name, the first in a JSON file
skip_under_sanitizers() {
    [ -n "${SAN:-}" ] && { echo "under sanitizers this takes too long: $1"; exit 77; }
}
