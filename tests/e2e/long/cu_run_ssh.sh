# tests/e2e/long/cu_run_ssh.sh – cu-run over a real sshd: four hosts on 127.0.0.1 to .4 with keys of
# their own. Many starts at once, agents that are killed or frozen, Ctrl-C and kill -9 of the master.
# Needs BIN, root (sshd) and openssh-server; run through tests/run.sh.
set -u
sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || { echo "skipped: no sshd (openssh-server)"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: sshd wants root"; exit 77; }
# Agents are looked for by name: those of other tests are not to be seen.
[ $$ = 1 ] || exec unshare --mount --pid --fork --mount-proc --kill-child bash "$0"
. tests/check.sh
bin=$(cd "$BIN" && pwd)
cleanup() { [ -s "$work/sshd.pid" ] && kill "$(cat "$work/sshd.pid")"; rm -rf "$work"; }
trap cleanup EXIT
cd "$work" || exit 1
mkdir -p /run/sshd ssh

ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user
cp user.pub authorized
port=$((20000 + $$ % 20000))
{
    echo "Port $port"
    for i in 1 2 3 4; do echo "ListenAddress 127.0.0.$i"; done
    # what a login shell of this machine's root would start is not part of the test
    printf '%s\n' "SetEnv HOME=$work" "HostKey $work/host" "AuthorizedKeysFile $work/authorized" "PidFile $work/sshd.pid" \
        'UsePAM no' 'StrictModes no' 'PermitRootLogin yes' 'PasswordAuthentication no'
} >sshd_config
"$sshd" -f sshd_config -E sshd.log || { echo "skipped: sshd does not start: $(cat sshd.log)"; exit 77; }
# ssh reads no configuration from $HOME where it is told another
cat >ssh_config <<END
Host n1 n2 n3 n4 s*
    Port $port
    User root
    IdentityFile $work/user
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
END
for i in 1 2 3 4; do printf 'Host n%s\n    HostName 127.0.0.%s\n' $i $i; done >>ssh_config
printf 'Host s*\n    HostName 127.0.0.1\n' >>ssh_config
printf '#!/bin/sh\nexec %s -F %s/ssh_config "$@"\n' "$(command -v ssh)" "$work" >ssh/ssh
chmod +x ssh/ssh
PATH=$work/ssh:$PATH
for _ in $(seq 50); do ssh n1 true 2>ssh.err && break; sleep 0.1; done # it is a daemon before it listens
[ -s ssh.err ] && ! ssh n1 true && { echo "skipped: ssh to our own sshd fails: $(cat sshd.log)"; exit 77; }

nodes() { # how many, of which prefix: JSON
    for i in $(seq "$1"); do printf '%s{"name": "%s%d", "host": "%s%d", "cores": 2}' "$([ "$i" = 1 ] || echo ', ')" "$2" "$i" "$2" "$i"; done
}
job() { # nodes, count, command, time, more
    printf '{"nodes": [%s], "oversubscribe": true, "retries": 0, "tasks": [{"name": "t", "count": %s, "command": "%s", "time": "%s"}]%s}' \
        "$1" "$2" "$3" "$4" "${5:-}" >job.json
}
agents() { pgrep -x cu-run-agent; }
gone() { # what, how pgrep finds it: no process of that kind within 15 s
    for _ in $(seq 150); do pgrep "${@:2}" >/dev/null || return 0; sleep 0.1; done
    say "$1: $(pgrep -a "${@:2}")"
}

# tasks run on all nodes, their output comes back
job "$(nodes 4 n)" 24 "echo {id} {node}; echo {node} >>$work/ran; sleep 0.2" 0.2
"$bin/cu-run" run job.json --quiet >out 2>err || say "four nodes: $(cat out err)"
[ "$(sort -u ran | wc -l)" = 4 ] && [ "$(wc -l <ran)" = 24 ] || say "where tasks ran: $(sort ran | uniq -c) $(cat err)"
grep -q '^7 n' job.json.results/7.out || say "output: $(cat job.json.results/7.out)"

# twenty nodes of one sshd, more than its MaxStartups lets in at once: none is lost, nothing is retried
rm -rf ran job.json.results
job "$(nodes 20 s)" 20 "echo {id} >>$work/ran; sleep 0.5" 0.5
start=$(date +%s)
"$bin/cu-run" run job.json --quiet --json run.json >out 2>err || say "twenty nodes: $(cat out err)"
[ "$(sort -u ran | wc -l)" = 20 ] || say "twenty nodes: $(wc -l <ran) tasks"
grep -q '"attempts": 2' run.json && say "twenty nodes: a task was tried twice"
echo "twenty nodes on one sshd: $(($(date +%s) - start)) s"

# An agent is killed: noticed at once, its tasks go elsewhere. All others run once; one that ended in the
# agent's last moments, before it could say so, is not proven finished and may run again.
rm -rf ran job.json.results
job "$(nodes 4 n)" 24 "sleep 0.5; echo {id} {node} >>$work/ran" 0.5
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 100); do [ "$(agents | wc -l)" -ge 4 ] && [ -s ran ] && break; sleep 0.1; done
kill -9 "$(agents | tail -1)"
wait $pid || say "a killed agent: $(cat out err)"
lost=$(sed -n "s/.*node '\([^']*\)' is lost; its tasks are replanned.*/\1/p" err)
[ -n "$lost" ] || say "a killed agent is not named: $(cat err)"
[ "$(awk '{print $1}' ran | sort -u | wc -l)" = 24 ] || say "a killed agent: of 24 tasks ran $(sort ran)"
twice=$(awk -v lost="$lost" '$1 in first { print $1, first[$1]; next } { first[$1] = $2 }' ran)
[ "$(echo "$twice" | grep -c .)" -le 2 ] && ! echo "$twice" | grep . | grep -qv " $lost\$" ||
    say "a killed agent, $lost with two cores: run twice, and where first: $twice"

# an agent is frozen, as a node without network is: given up after the grace, the rest goes on
# and its tasks, which are not frozen and would never end, are over before others do them
rm -rf ran job.json.results
touch slow.n1 slow.n2
job "$(nodes 2 n)" 8 "exec 9>held{id}; flock -n 9 || echo {id} >>$work/clash; echo \$(ps -o ppid= -p \$PPID) >>agent.{node}; while [ -e slow.{node} ]; do sleep 0.1; done; echo {id} >>$work/ran" 0.5
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 100); do [ -s agent.n1 ] && [ -s agent.n2 ] && break; sleep 0.1; done
frozen=$(head -1 agent.n2)
kill -STOP "$frozen"
rm slow.n1
start=$(date +%s)
wait $pid || say "a frozen agent: $(cat out err)"
took=$(($(date +%s) - start))
[ $took -le 75 ] || say "a frozen agent kept the run for $took s"
echo "a frozen agent: the run ended after $took s"
kill -CONT "$frozen" 2>/dev/null
gone "a frozen agent that went on stays" -x cu-run-agent
[ "$(sort -u ran | wc -l)" = 8 ] && [ ! -e clash ] || say "a frozen agent: $(sort ran | uniq -c) $(cat clash err)"
rm -f slow.n2

# Ctrl-C: no task stays; --resume goes on
rm -rf ran job.json.results
job "$(nodes 4 n)" 16 "sleep 7.125; echo {id} >>$work/ran" 7
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 100); do pgrep -f 'sleep 7.125' >/dev/null && break; sleep 0.1; done
kill -INT $pid
wait $pid
rc=$?
[ $rc = 4 ] || say "Ctrl-C: exit code $rc: $(cat out err)"
gone "tasks run on after Ctrl-C" -f 'sleep 7.125'
[ -e ran ] && say "after Ctrl-C: $(cat ran)"

# kill -9: no task stays, and --resume starts no second copy while the first runs (b: a copy begins, e: it ends).
# Only a copy that ended before its agent knew of the death, and so was never reported, runs again.
job "$(nodes 4 n)" 16 "echo {id} b >>$work/ran; sleep 2.125; echo {id} e >>$work/ran" 2
rm -rf ran job.json.results
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 100); do pgrep -f 'sleep 2.125' >/dev/null && break; sleep 0.1; done
kill -9 $pid
wait $pid 2>/dev/null
"$bin/cu-run" run job.json --quiet --resume >out 2>err || say "--resume after kill -9: $(cat out err)"
copies=$(awk '{ s[$1] = s[$1] $2 } END { for (id in s) print id, s[id] }' ran)
[ "$(echo "$copies" | grep -cE ' (be|bbe|bebe)$')" = 16 ] && [ "$(echo "$copies" | wc -l)" = 16 ] ||
    say "after kill -9 and --resume: $copies"
gone "an agent stays after the run" -x cu-run-agent
exit $failed
