# tests/e2e/cu_run.sh – cu-run from the command line: plans, runs, failures, interruptions, a node
# lost behind a stand-in for ssh, calibration, bad input. Needs BIN; run through tests/run.sh.
. tests/check.sh
needs_two_cpus
bin=$(cd "$BIN" && pwd)
here=$PWD
cd "$work" || exit 1
export TMPDIR=$work/temporary
mkdir "$TMPDIR"

runs() { # exit code, arguments… ; output in out, errors in err
    code=$1
    shift
    "$bin/cu-run" "$@" >out 2>err
    rc=$?
    [ $rc = "$code" ] || say "$* exits $rc instead of $code: $(cat err)"
}
job() { # writes job.json: task command, members of the job
    printf '{"nodes": [{"name": "a", "cores": 2}, {"name": "b", "cores": 1, "factor": 2}],
"oversubscribe": true, "tasks": [{"name": "t", "count": %s, "command": "%s", "time": "%s"}]%s}' \
        "$1" "$2" "$3" "${4:-}" >job.json
}

# plans
runs 0 plan --tasks "10 x 71.07/p^0.42+4.47" --nodes "cs1:8:1.0,ws1:12:1.4" --json plan.json --report plan.html
for key in '"method": "wlsearch"' '"makespan_s": 53.957' '"lower_bound_s"' '"after"' '"method": "evenkeel"'; do
    grep -q -- "$key" plan.json || say "plan.json lacks $key"
done
grep -q 'const data = {"title":"cu-run plan"' plan.html || say "plan.html holds no data"

# a run: every task once, on as many cores as planned, nothing twice when resumed
job 6 "echo {id} {node} {cores} \$OMP_NUM_THREADS >>ran; sleep {seconds}" "0.1/p+0.01"
runs 0 run job.json --method taskp --json run.json
[ "$(awk '$3 != $4' ran | wc -l)" = 0 ] || say "OMP_NUM_THREADS differs from {cores}: $(cat ran)"
[ "$(cut -d' ' -f1 ran | sort -u | wc -l)" = 6 ] && [ "$(wc -l <ran)" = 6 ] || say "tasks ran: $(cat ran)"
grep -q '"done": 6' run.json || say "run.json: $(cat run.json)"
runs 0 run job.json --resume
[ "$(wc -l <ran)" = 6 ] || say "finished tasks ran again"

# a command's first word may be quoted in all ways that a shell knows, or be none of the shell's
mkdir "two words" && printf '#!/bin/sh\necho $1 >>quoted\n' >"two words/it's"
chmod +x "two words/it's"
job 2 'two\\ words/it\\'"'"'s {id}' "0.01"
rm -rf job.json.results
runs 0 run job.json
[ "$(sort quoted | tr '\n' ' ')" = "0 1 " ] || say "a quoted command: $(cat quoted job.json)"
job 1 "it's {id}" "0.01"
rm -rf job.json.results
runs 1 run job.json
# commands of several lines, and a program that a task before makes
cat >job.json <<'END'
{"nodes": "localhost", "tasks": [{"name": "make", "command": "\necho\nprintf '#!/bin/sh\\necho $1 >made' >maker\nchmod +x maker", "time": "0.01"},
 {"name": "use", "after": ["make"], "command": "./maker {id}", "time": "0.01"}]}
END
rm -rf job.json.results
runs 0 run job.json
[ "$(cat made)" = 1 ] || say "a program that was made: $(cat made err)"
[ -z "$(ls -A "$TMPDIR")" ] || say "runs leave in TMPDIR: $(ls -A "$TMPDIR")"

# a failing task is tried again, the rest goes on, the end names it; --resume tries it once more
rm -rf ran job.json.results
job 4 "echo {id} >>ran; test {id} != 2 -o -e mended" "0.01" ', "retries": 2'
runs 1 run job.json
grep -q "failed tasks: 2 (exit 1)" err || say "the failed task is not named: $(cat err)"
[ "$(grep -c '^2$' ran)" = 3 ] && [ "$(wc -l <ran)" = 6 ] || say "retries: $(tr '\n' ' ' <ran)"
refused 2 "unfinished run" "$bin/cu-run" run job.json
touch mended
runs 0 run job.json --resume
[ "$(wc -l <ran)" = 7 ] || say "resume ran more than the failed task"

# a journal that somebody emptied or removed: nothing that may be finished runs again unasked
: >job.json.results/journal
refused 2 'journal is empty' "$bin/cu-run" run job.json --resume
rm job.json.results/journal
refused 2 'journal is missing' "$bin/cu-run" run job.json
[ "$(wc -l <ran)" = 7 ] || say 'tasks ran again without a journal'

# interrupted, then killed: what is finished is kept, what was left behind is ended
rm -rf ran job.json.results
job 20 "sleep 0.3; echo {id} >>ran" "0.3"
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
sleep 0.75
kill -INT $pid
wait $pid
rc=$?
[ $rc = 4 ] || say "an interrupted run exits $rc"
"$bin/cu-run" run job.json --resume --quiet >out 2>err & pid=$!
sleep 0.5
kill -9 $pid
wait $pid 2>/dev/null
runs 0 run job.json --resume
[ "$(sort -u ran | wc -l)" = 20 ] || say "after two ends: $(tr '\n' ' ' <ran)"

# a node behind ssh that dies: its tasks go to the other one
cat >ssh <<'END'
#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
[ "$1" = -- ] && shift
host=$1
shift
[ "$host" = dying ] && [ -e dead ] && exit 255
echo $$ >"$host.pid"
exec sh -c "$*"
END
chmod +x ssh
cat >remote.json <<'END'
{"nodes": [{"name": "good", "host": "good", "cores": 2}, {"name": "bad", "host": "dying", "cores": 2, "factor": 2}],
 "tasks": [{"name": "t", "count": 12, "command": "sleep 0.1; [ {id} = 5 ] && [ {node} = bad ] && touch dead && kill -9 $(pgrep -P $(cat dying.pid)); echo {id} {node} >>ran", "time": "0.1"}]}
END
rm -f ran
PATH=$work:$PATH runs 0 run remote.json --method taskp --json run.json
[ -e dead ] || touch dead
grep -q "node 'bad' is lost" err || say "the lost node is not named: $(cat err)"
[ "$(awk '{print $1}' ran | sort -u | wc -l)" = 12 ] || say "tasks of the lost node: $(cat ran)"
grep -q '"plans": [23]' run.json || say "no second plan: $(grep plans run.json)"
PATH=$work:$PATH refused 3 "cannot be reached" "$bin/cu-run" run remote.json --results other
# a task on two nodes fails because one of them is lost: not its own fault
cat >both.json <<'END'
{"nodes": [{"name": "good", "host": "good", "cores": 2}, {"name": "bad", "host": "dying", "cores": 2}],
 "tasks": [{"name": "c", "cluster": true, "time": "4/p", "command": "echo {hosts} >>wide; case {hosts} in *,*) touch dead; kill -9 $(pgrep -P $(cat dying.pid)); exit 1;; esac"}]}
END
rm -f dead
PATH=$work:$PATH runs 0 run both.json
[ "$(tr '\n' ' ' <wide)" = 'good:2,dying:2 good:2 ' ] || say "a task that has lost a node: $(cat wide err)"
job 1 true 1/p
TMPDIR=$work/nowhere refused 3 "cannot be written: No such file or directory; choose another" "$bin/cu-run" run job.json --results unlocked

# calibration
job 1 "printf 'time %s\\\\n' {seconds}" "6/p+1"
sed -i 's/"count": 1,/"measure": "time ([0-9.]+)",/' job.json
runs 0 calibrate job.json --repeat 1 --out fitted.json
grep -q '"factor": 2.0' fitted.json || say "factor: $(cat fitted.json)"
runs 0 plan fitted.json
grep -q evenkeel out || say "plan of a calibrated job: $(cat out)"

# an agent that does not see the results keeps nothing, whether its tasks end or are ended
sed 's/"command": "/"command": "echo >>begun; sleep 30; /' job.json >slow.json
mkdir kept
TMPDIR=$work/kept runs 0 calibrate job.json --repeat 1
TMPDIR=$work/kept "$bin/cu-run" calibrate slow.json --quiet >out 2>err & pid=$!
for _ in $(seq 300); do [ -e begun ] && break; sleep 0.1; done
kill -INT $pid
wait $pid
[ $? = 4 ] && [ -z "$(ls -A kept)" ] || say "calibrations leave in TMPDIR: $(ls -A kept kept/*)"

before=$(cat job.json)
refused 2 'input' "$bin/cu-run" calibrate job.json --repeat 1 --out job.json
[ "$before" = "$(cat job.json)" ] || say 'calibrate wrote over its input'

# copies beside each other are different tasks, and what a run takes besides what it says is planned
cat >job.json <<'END'
{"nodes": [{"name": "a", "cores": 2}], "oversubscribe": true, "tasks": [
 {"name": "two", "count": 2, "command": "mkdir mine{id} && sleep 0.2 && rmdir mine{id} && echo took 0.01", "time": "1", "measure": "took ([0-9.]+)"},
 {"name": "one", "command": "mkdir mine && sleep 0.05 && rmdir mine", "time": "1"}]}
END
runs 0 calibrate job.json --repeat 1 --out fitted.json
python3 - <<'END' || say "a run of 0.2 s that says 0.01: $(cat fitted.json)"
import json
law = json.load(open("fitted.json"))["tasks"][0]["time"]
a, b, c = float(law.split("/")[0]), float(law.split("^")[1].split("+")[0]), float(law.split("+")[1])
assert 0.2 <= a + c, law
END

# the values of a sweep are different tasks, too: the second one's time is no interference
cat >job.json <<'END'
{"nodes": [{"name": "a", "cores": 2}], "oversubscribe": true, "tasks": [{"command": "sleep {x}", "sweep": {"x": [0.2, 1.2]}}]}
END
runs 0 calibrate job.json --repeat 1 --out fitted.json
python3 -c 'import json; assert json.load(open("fitted.json"))["tasks"][0]["interference"] < 1' || say "a sweep: $(cat fitted.json)"

# a time that is none: the task has failed, and the others go on
cat >job.json <<'END'
{"nodes": [{"name": "a", "cores": 1}], "oversubscribe": true, "retries": 0, "tasks": [
 {"name": "none", "command": "echo took inf", "time": "0.1", "measure": "took (.*)"}, {"name": "ok", "command": "true", "time": "0.1"}]}
END
rm -rf job.json.results
runs 1 run job.json
grep -q 'failed tasks: 0 (exit 1)' err && grep -q '2 tasks, 1 done' out || say "a time of inf: $(cat out err)"

# widths that a task can have, on nodes that have them; times that grow give a law that can be read
cat >job.json <<'END'
{"nodes": [{"name": "a", "cores": 4}, {"name": "b", "cores": 2}], "oversubscribe": true, "tasks": [
 {"name": "three", "least_cores": 3, "most_cores": 3, "command": "echo {node} {cores} >>widths; echo t 3", "measure": "t ([0-9.]+)"},
 {"name": "grows", "command": "echo t {cores}", "measure": "t ([0-9.]+)"}]}
END
runs 0 calibrate job.json --repeat 1 --out fitted.json
[ "$(cat widths)" = 'a 3' ] || say "widths of a task on three cores: $(cat widths)"
runs 0 plan fitted.json
sed -i 's/"least_cores": 3, "most_cores": 3/"least_cores": 5, "most_cores": 0/; s/"b", "cores": 2/"b", "cores": 5/' job.json
refused 2 "task 'three' cannot be measured on node 'a'" "$bin/cu-run" calibrate job.json --repeat 1 --out fitted.json

# the examples; the one of the README
runs 0 plan "$here/cu/examples/sleep.json"
cp "$here/cu/examples/workflow.json" .
runs 0 run workflow.json
[ "$(wc -l <report)" = 6 ] && grep -q '^cubic 3 on [0-9]* cores: 100$' report || say "the workflow: $(cat report)"
rm part3
runs 0 run workflow.json --resume --json run.json
[ "$(grep -c '"finished_before": true' run.json)" = 7 ] && [ -s part3 ] ||
    say "only what is not proven done is done again: $(grep -c '"finished_before": true' run.json)"

one() { # writes job.json with one node of so many cores: node's members, job's members, tasks
    printf '{"nodes": [{"name": "a", %s}], "oversubscribe": true, "retries": 0%s, "tasks": [%s]}' "$1" "$2" "$3" >job.json
    rm -rf job.json.results ran clash held
}
# what depends on a failure is not run; what does not, is
one '"cores": 2' '' '{"name": "x", "command": "false", "time": "0.1"}, {"name": "y", "after": ["x"], "command": "echo y >>ran", "time": "0.1"},
 {"name": "z", "command": "echo z >>ran", "time": "0.1"}'
runs 1 run job.json --json run.json
[ "$(cat ran)" = z ] && grep -q '"state": "skipped"' run.json || say "a failed dependency: $(cat ran err)"
one '"cores": 2' '' '{"name": "y", "after": ["x"], "command": "true", "time": "1"}'
refused 2 "no task before it has the name 'x'" "$bin/cu-run" run job.json

# a task's time, and the allocation's: full to its end, and the rest with the next one
one '"cores": 1' '' '{"command": "sleep 20", "time": "20", "walltime": 0.5}'
runs 1 run job.json
grep -q 'exit 124' err || say "a task's walltime: $(cat err)"
pgrep -f '^sleep 20$' >/dev/null && say 'a task runs on after its walltime'
one '"cores": 2' ', "walltime": 4.5' '{"name": "long", "count": 2, "command": "echo l >>ran; sleep 5", "time": "5"},
 {"name": "short", "count": 4, "command": "echo s >>ran; sleep 1", "time": "1"}'
runs 4 run job.json
grep -q 'no time left for 2 tasks' err && [ "$(sort ran | uniq -c | tr -d ' \n')" = 4s ] || say "the allocation's end: $(cat err ran)"

# GPUs and memory: never more than the node has
one '"cores": 4, "gpus": 2' '' '{"count": 6, "gpus": 1, "command": "mkdir held$CUDA_VISIBLE_DEVICES || touch clash; sleep 0.2; rmdir held$CUDA_VISIBLE_DEVICES; echo $CUDA_VISIBLE_DEVICES >>ran", "time": "0.2"}'
runs 0 run job.json
[ ! -e clash ] && [ "$(sort -u ran | tr -d '\n')" = 01 ] || say "GPUs: $(sort ran | uniq -c)"
one '"cores": 4, "memory": 10' '' '{"count": 4, "memory": 6, "command": "mkdir held || touch clash; sleep 0.2; rmdir held", "time": "0.2"}'
runs 0 run job.json
[ ! -e clash ] || say 'memory: two tasks of 6 at once where there are 10'
one '"cores": 4, "gpus": 1' '' '{"gpus": 2, "command": "true", "time": "1"}'
refused 2 'no node has 2 GPUs' "$bin/cu-run" run job.json

# tasks take six times as long as planned: the waiting ones are replanned
one '"cores": 2' '' '{"count": 12, "command": "sleep 0.6", "time": "0.1"}'
runs 0 run job.json --method taskp --json run.json
grep -q '"plans": 1,' run.json && say 'no new plan for tasks that take longer'

# a line of the journal that is not as it was written proves nothing
sed -i '3s/"status":0/"status": 0/' job.json.results/journal
runs 0 run job.json --resume --json run.json
[ "$(grep -c '"finished_before": true' run.json)" = 11 ] || say 'a damaged journal line counts'
grep -q 'changed: 1, the first is line 3' err || say "a damaged journal line is not named: $(cat err)"

# outputs that are gone have to be made again, also where that fails or is ended half-way
one '"cores": 1' '' '{"command": "echo {id} >>ran; echo part >made{id}; test ! -e broken", "time": "0.3", "count": 2, "outputs": ["made{id}"]}'
runs 0 run job.json
rm made1
touch broken
runs 1 run job.json --resume --json run.json
rm broken
runs 0 run job.json --resume
[ "$(tr -d '\n' <ran)" = 0111 ] || say "a task whose outputs were half made: $(cat ran)"
[ "$(number lower_bound_s run.json | cut -c1-4)" = 0.29 ] || say "the bound of the rest: $(number lower_bound_s run.json)"

# whatever the folder is called, and wherever its journal is damaged, nothing finished runs again
rm -f ran
runs 0 run job.json --results 'r[1]*'
rm 'r[1]*/journal'
refused 2 'journal is missing' "$bin/cu-run" run job.json --results 'r[1]*'
sed -i '1s/job/jib/' job.json.results/journal
refused 2 'journal is damaged' "$bin/cu-run" run job.json --resume
[ "$(wc -l <ran)" = 2 ] || say "tasks ran again: $(cat ran)"

# a supervisor that is killed: its task fails, and nothing of it runs on
first=317.$$ last=318.$$ # found by these numbers
one '"cores": 1' '' '{"command": "sleep '$first' & sleep '$last'; true", "time": "1"}'
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 300); do pgrep -f "^sleep $last\$" >/dev/null && break; sleep 0.1; done
parent() { ps -o ppid= -p "$1" | tr -d ' '; }
sleeps=$(pgrep -f "^sleep $last\$") && kill -9 "$(parent "$(parent "$sleeps")")" || kill $pid
wait $pid
[ $? = 1 ] && grep -q 'exit 137' err || say "a killed supervisor: $(cat err)"
pgrep -f "^sleep ($first|$last)\$" >/dev/null && say 'a task outlives its killed supervisor'

# what is on a node counts, whatever the plan expects: a task that takes longer than planned keeps
# its core when the others are replanned
core='for h in 1 2 3 4 5; do mkdir held$h 2>/dev/null && break; done; [ $h != 5 ] || touch clash;'
one '"cores": 4' '' '{"name": "long", "most_cores": 1, "command": "'"$core"' sleep 4; rmdir held$h", "time": "0.1"},
 {"name": "short", "count": 12, "least_cores": 2, "most_cores": 2, "time": "1", "command": "'"$core"' i=$h; '"$core"' sleep 0.3; rmdir held$h held$i"}'
runs 0 run job.json --json run.json
[ ! -e clash ] && ! grep -q '"plans": 1,' run.json || say "five cores of four: $(grep plans run.json)"

# a line that a crash has cut short does not spoil the next one
rm -rf held*
one '"cores": 1' '' '{"command": "echo {id} >>ran", "time": "0.1", "count": 2}'
runs 0 run job.json
truncate -s -20 job.json.results/journal
runs 0 run job.json --resume
runs 0 run job.json --resume
[ "$(wc -l <ran)" = 3 ] || say "after a line that was cut short: $(cat ran)"

# a task of a killed run may take a while to end: the next run waits for it
one '"cores": 1' '' '{"command": "exec 9>held; flock -n 9 || touch clash; trap \"\" TERM; echo >>ran; [ $(wc -l <ran) = 2 ] || sleep 30", "time": "0.1"}'
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 300); do [ -e ran ] && break; sleep 0.1; done
{ kill -9 $pid; wait $pid; } 2>/dev/null
runs 0 run job.json --resume
[ ! -e clash ] && [ "$(wc -l <ran)" = 2 ] || say "beside a task of a killed run: $(wc -l <ran)"

# a failure is none for what stands behind a task that is done
rm -f held
one '"cores": 1' '' '{"name": "x", "command": "echo >x; test ! -e broken", "outputs": ["x"], "time": "0.1"},
 {"name": "y", "after": ["x"], "command": "true", "time": "0.1"}, {"name": "z", "after": ["y"], "command": "test -e broken", "time": "0.1"}'
runs 1 run job.json
rm x
touch broken
runs 1 run job.json --resume --json run.json
rm broken
[ "$(grep -c '"state": "done"' run.json)" = 2 ] || say "behind a task that is done: $(grep state run.json)"

# what a task leaves behind in a session of its own is ended, too
one '"cores": 1' '' '{"command": "setsid sleep 900 & true", "time": "0.1"}'
timeout 60 "$bin/cu-run" run job.json >out 2>err
check $? "a task that leaves a session behind ends: $(cat err)"

# the only node is lost: told so, and the rest is for --resume
one '"cores": 1' '' '{"command": "echo {id} >>ran; sleep 0.3", "time": "0.3", "count": 4}'
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 300); do [ -e ran ] && break; sleep 0.1; done
pkill -9 -P $pid
wait $pid
[ $? = 3 ] && grep -q 'no node is left' err || say "the only node is lost: $(cat err)"
runs 0 run job.json --resume
[ "$(sort -u ran | wc -l)" = 4 ] || say "after the loss of the only node: $(cat ran)"

# {id} and the like belong to the plan, not to a sweep
one '"cores": 1' '' '{"command": "echo {cores}", "time": "1", "sweep": {"cores": [1, 2]}}'
refused 2 'choose another name' "$bin/cu-run" plan job.json

# values of a sweep keep all their digits, and words in them stay
one '"cores": 1' '' '{"command": "echo {x} >>ran", "time": "1", "sweep": {"x": [12345678901234567, 0.1, 0.30000000000000004, 1e3, "{id}", "{cores}"]}}'
runs 0 run job.json --method taskp
[ "$(tr '\n' ' ' <ran)" = '12345678901234567 0.1 0.30000000000000004 1000 {id} {cores} ' ] || say "a sweep: $(cat ran)"

# GPUs that the node's environment does not have
one '"cores": 1, "gpus": 2' '' '{"command": "true", "time": "1"}'
CUDA_VISIBLE_DEVICES=5 refused 3 'CUDA_VISIBLE_DEVICES has only 1' "$bin/cu-run" run job.json

# nodes that are parts of one host have GPUs and cpus of their own
one '"cores": 1, "gpus": 1}, {"name": "b", "cores": 1, "gpus": 2' '' '{"command": "echo $CUDA_VISIBLE_DEVICES >>ran; sleep 0.4", "time": "0.4", "count": 2, "gpus": 1}'
runs 0 run job.json
[ "$(sort ran | tr '\n' ' ')" = '0 1 ' ] || say "GPUs of two nodes: $(sort ran | tr '\n' ' ')"
CUDA_VISIBLE_DEVICES=7,5,3 runs 0 run job.json
[ "$(sort ran | tr '\n' ' ')" = '0 1 5 7 ' ] || say "named GPUs of two nodes: $(sort ran | tr '\n' ' ')"
cat >ssh <<'END'
#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
shift 2
exec sh -c "$*"
END
chmod +x ssh
echo '{"nodes": [{"name": "a", "host": "h", "cores": 1}, {"name": "b", "host": "h", "cores": 1}], "tasks": [{"count": 2, "command": "grep Cpus_allowed_list /proc/self/status >>ran; sleep 0.4", "time": "0.4"}]}' >job.json
rm -rf job.json.results ran
PATH=$work:$PATH runs 0 run job.json
[ "$(sort -u ran | wc -l)" = 2 ] || say "cpus of two nodes: $(cat ran)"

# the user's shell there may be another one
for shell in tcsh fish; do
    command -v $shell >/dev/null || continue
    rm -rf job.json.results ran
    sed -i "s/^exec [a-z]*sh -c/exec $shell -c/" ssh
    PATH=$work:$PATH runs 0 run job.json
    [ "$(wc -l <ran)" = 2 ] || say "through $shell: $(cat ran)"
done
sed -i 's/^exec [a-z]*sh -c/exec sh -c/' ssh

# a lost node takes its GPU along: what needs it waits, with what depends on that, and the rest is done
cat >job.json <<'END'
{"nodes": [{"name": "g", "host": "g", "cores": 1, "gpus": 1}, {"name": "c", "host": "c", "cores": 1}], "oversubscribe": true, "retries": 0, "tasks": [
 {"name": "gpu", "gpus": 1, "command": "[ -e mended ] || { kill -9 $(ps -o ppid= -p $PPID); sleep 9; }; echo {id} >>ran", "time": "1", "count": 2},
 {"name": "behind", "after": ["gpu"], "command": "echo {id} >>ran", "time": "9"},
 {"name": "cpu", "command": "sleep 0.2; echo {id} >>ran", "time": "1", "count": 4}, {"name": "last", "after": ["cpu"], "command": "echo {id} >>ran", "time": "1"}]}
END
rm -rf job.json.results ran mended
PATH=$work:$PATH runs 3 run job.json
[ "$(sort ran | tr '\n' ' ')" = '3 4 5 6 7 ' ] && grep -q '3 tasks wait' err || say "without the only GPU: $(cat ran err)"
touch mended
PATH=$work:$PATH runs 0 run job.json --resume
[ "$(sort ran | tr '\n' ' ')" = '0 1 2 3 4 5 6 7 ' ] || say "with a GPU again: $(cat ran err)"

# output that comes from a node without the folder is cut if it is long, which its first line says
cat >ssh <<'END'
#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
shift 2
mv job.json.results/lock hidden
exec sh -c "$*"
END
one '"host": "h", "cores": 1' '' '{"command": "head -c 70000000 /dev/zero; echo end", "time": "1"}'
PATH=$work:$PATH runs 0 run job.json
[ "$(head -c 200 job.json.results/0.out | head -1 | tr -d '\0')" = 'cu-run: 2891140 bytes before these are left out' ] &&
    [ "$(tail -c 4 job.json.results/0.out)" = end ] || say "long output: $(wc -c <job.json.results/0.out)"

# a supervisor that is stopped ends its task at the walltime, too
one '"cores": 1' '' '{"command": "kill -STOP $PPID; sleep 60", "time": "1", "walltime": 0.5}'
timeout 30 "$bin/cu-run" run job.json >out 2>err
[ $? = 1 ] && grep -q 'exit 124' err || say "a stopped supervisor: $(cat err)"

for time in 1e308 1e101 1e-101; do
    one '"cores": 2' '' "{\"command\": \"true\", \"count\": 9, \"time\": [$time, $time]}"
    refused 2 'between 1e-100' "$bin/cu-run" plan job.json
done
for time in inf '' 5: 1:-2 1e9:0; do
    one '"cores": 1' '' "{\"command\": \"true\", \"time\": \"1\", \"walltime\": \"$time\"}"
    refused 2 walltime "$bin/cu-run" run job.json
done
{ printf '#%600s\n' x && echo 'here slots=2'; } >hosts
echo '{"nodes": {"hostfile": "hosts"}, "oversubscribe": true, "tasks": [{"command": "true", "time": "1"}]}' >job.json
runs 0 plan job.json
sed -i 's/"hostfile"/"slots": 2, "hostfile"/' job.json
refused 2 'slots' "$bin/cu-run" plan job.json

# tasks that no node can take with all they need; cluster tasks take the nodes that can
one '"cores": 8}, {"name": "b", "cores": 2, "gpus": 1' '' '{"command": "true", "time": "1", "least_cores": 8, "gpus": 1}'
refused 2 'GPUs and memory' "$bin/cu-run" plan job.json
one '"cores": 8}, {"name": "b", "cores": 12' '' '{"command": "true", "cluster": true, "time": "1", "least_cores": 10, "most_cores": 11}'
refused 2 'no cluster has a number of cores' "$bin/cu-run" plan job.json
one '"cores": 4, "gpus": 1}, {"name": "b", "cores": 4' '' '{"command": "true", "cluster": true, "time": "10/p", "gpus": 1, "count": 3}'
runs 0 plan job.json --json plan.json
[ "$(grep -c '"makespan_s": 7.5' plan.json)" = 7 ] || say "a cluster with one GPU: $(grep makespan plan.json)"

# a trace in the Standard Workload Format
cat >trace.swf <<'END'
; Computer: none
1 0 0 100 2 -1 -1 2 200 -1 1 1 1 1 1 -1 -1 -1
2 5 0 50 3 -1 -1 3 200 -1 1 1 1 1 1 -1 -1 -1
3 6 0 -1 1 -1 -1 1 200 -1 0 1 1 1 1 -1 -1 -1
END
sed -i '1s/^/\xef\xbb\xbf/; s/$/\r/' trace.swf
printf '{"nodes": [{"name": "a", "cores": 4}], "oversubscribe": true, "tasks": {"swf": "trace.swf", "scale": 0.001}}' >job.json
rm -rf job.json.results
runs 0 plan job.json --method evenkeel --json plan.json
grep -q '"makespan_s": 0.15' plan.json || say "a trace: $(grep makespan plan.json)"
grep -q 'trace.swf: .*left out: 1$' err || say "a job that never ran: $(cat err)"
runs 0 run job.json
grep -q '2 tasks, 2 done' out || say "a trace: $(cat out)"
echo 1 2 3 >>trace.swf
refused 2 'trace.swf:5' "$bin/cu-run" plan job.json
for more in 19 x; do
    sed -i "5s/.*/4 6 0 1 1 -1 -1 1 200 -1 0 1 1 1 1 -1 -1 -1 $more/" trace.swf
    refused 2 'trace.swf:5' "$bin/cu-run" plan job.json
done
echo '1 0 0 100 13 -1 -1 13 200 -1 1 1 1 1 1 -1 -1 -1' >trace.swf
echo '{"nodes": [{"name": "a", "cores": 8}, {"name": "b", "cores": 12}], "oversubscribe": true, "tasks": {"swf": "trace.swf"}}' >job.json
runs 0 plan job.json

# bad input, before anything is started
rm -f ran
refused 2 "method: 'waterlevel'" "$bin/cu-run" run "$here/cu/examples/sleep.json" --method waterlevel
refused 2 "not understood" "$bin/cu-run" plan --tasks "3/q" --nodes a:1:1
refused 2 "0 cores" "$bin/cu-run" plan --tasks "3/p" --nodes a:0:1
printf "{" >job.json
refused 2 "job.json:1" "$bin/cu-run" run job.json --results r
job 1 "no-such-command {id}" "1"
refused 3 "no-such-command" "$bin/cu-run" run job.json --results r
job 1 "true" "-3/p"
refused 2 "must be above 0" "$bin/cu-run" run job.json --results r
printf '{"nodes": [{"name": "a", "cores": 4000}], "tasks": [{"command": "true", "time": "1"}]}' >job.json
refused 3 "node 'a' with 4000 cores" "$bin/cu-run" run job.json --results r
printf '{"nodes": "localhost", "tasks": [{"command": "true"}]}' >job.json
refused 2 "tasks\[0\].time is missing" "$bin/cu-run" run job.json --results r
printf '{"nodes": "localhost", "tasks": [{"comand": "true"}]}' >job.json
refused 2 "unknown key .*comand" "$bin/cu-run" run job.json --results r
printf '{"nodes": "slurm", "tasks": [{"command": "true", "time": "1"}]}' >job.json
refused 3 "Slurm" "$bin/cu-run" run job.json --results r
# A host is one word that ssh cannot take for an option; misspelt or wrong members are refused.
for host in '-oProxyCommand=touch pwned' '-oProxyCommand=touch' 'name host' '*' 'a,b' '#a' 'bell\u0007' ''; do
    printf '{"nodes": [{"name": "a", "host": "%s", "cores": 1}], "tasks": [{"command": "true", "time": "1"}]}' "$host" >job.json
    refused 2 'is not the name of a host' "$bin/cu-run" run job.json --results r
done
[ -e pwned ] && say 'a host ran a command'
printf '{"nodes": [{"name": "a", "cores": 1}], "oversubscribe": "yes", "tasks": [{"command": "true", "time": "1"}]}' >job.json
refused 2 'oversubscribe must be true or false' "$bin/cu-run" run job.json --results r
[ ! -e r ] || say "a refused job left a folder"
exit $failed
