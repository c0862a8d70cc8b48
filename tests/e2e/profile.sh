# tests/e2e/profile.sh – profiles from the command line: created, used by the next run, listed; a
# damaged one is ignored with one line. Needs BIN; run through tests/run.sh.
. tests/check.sh
needs_two_cpus
export CU_PROFILE_DIR=$work/profiles
bt() { "$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 --schedule heft "$@" 2>"$work/err"; }
lines() { wc -l <"$work/err"; }

bt --json - | grep -q '"profile"' && say 'a profile is used before there is one'
bt --profile=make | grep -q "task times known from $CU_PROFILE_DIR/bt-mz-" || say "not made: $(cat "$work/err")"
[ "$(ls "$CU_PROFILE_DIR" | wc -l)" = 1 ] || say 'not exactly one file'
bt --json - | grep -q '"profile"' || say 'the next run does not use it'
bt --profile=off --json - | grep -q '"profile"' && say '--profile=off uses it'
[ "$(lines)" = 0 ] || say "noise on stderr: $(cat "$work/err")"
"$BIN/cu-info" --profiles | grep -q '^bt-mz class S.*PCF' || say 'cu-info --profiles does not list it'
# What was learnt is used at once: no step in which HEFT would take both units for equal.
bt --json - | grep -q '"verified": true' || say 'a run with a profile does not verify'

file=$(ls "$CU_PROFILE_DIR"/*.json)
sed -i '0,/"width": 1/s//"width": 2/' "$file"
bt --json - >"$work/out" || say "a damaged profile is fatal: $(cat "$work/err")"
grep -q '"profile"' "$work/out" && say 'a damaged profile is used'
[ "$(lines)" = 1 ] && grep -q 'profile ignored' "$work/err" || say "not one line: $(cat "$work/err")"
"$BIN/cu-info" --profiles | grep -q '^refused' || say 'cu-info does not say that it is refused'
echo >"$file"
bt >/dev/null || say 'an empty profile is fatal'
bt --profile=nonsense >/dev/null
[ $? = 2 ] || say '--profile=nonsense is not exit 2'
CU_PROFILE_DIR=/proc/nowhere "$BIN/bt-mz" --class S --layout 1x1 --profile=make >/dev/null 2>"$work/err"
[ $? = 3 ] || say "an unwritable folder is not exit 3: $(cat "$work/err")"
exit $failed
