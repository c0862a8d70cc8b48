# tests/e2e/long/cu_run_slurm.sh – cu-run in a real Slurm of four nodes on this machine: tasks on the
# allocation's own cpus, MPI in cluster tasks, a node that is lost, scancel. Needs BIN, root,
# slurm-wlm and munge; run through tests/run.sh. All of it lives in a mount and process namespace of
# its own.
set -u
PATH=$PATH:/usr/sbin
for tool in slurmctld slurmd munged sbatch setpriv unshare; do
    command -v $tool >/dev/null || { echo "skipped: no $tool (slurm-wlm, munge)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: Slurm's daemons want root"; exit 77; }
bin=$(cd "$BIN" && pwd)
. tests/check.sh
if [ -z "${CU_SLURM_INSIDE:-}" ]; then
    CU_SLURM_INSIDE=$work BIN=$bin timeout 300 unshare --mount --pid --fork --mount-proc --kill-child bash "$0"
    exit
fi
rmdir "$work"
trap - EXIT
work=$CU_SLURM_INSIDE # is removed when all that writes there is gone
cd "$work" || exit 1
chmod 755 "$work"

mount -t tmpfs none /run
mkdir -p /run/munge spool
chown munge:munge /run/munge
setpriv --reuid munge --regid munge --clear-groups munged --force 2>munge.log ||
    { echo "skipped: munged does not start: $(cat munge.log)"; exit 77; }
host=$(hostname -s)
ctl=$((21000 + $$ % 1000 * 5)) # five ports
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$ctl
StateSaveLocation=$work/spool
SlurmctldPidFile=$work/ctld.pid
SlurmctldLogFile=$work/ctld.log
SlurmdPidFile=$work/%n.pid
SlurmdSpoolDir=$work/spool.%n
SlurmdLogFile=$work/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
KillWait=5
MpiDefault=none
END
for i in 1 2 3 4; do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((ctl + i)) CPUs=2" >>slurm.conf
done
echo 'PartitionName=all Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP' >>slurm.conf
export SLURM_CONF=$work/slurm.conf
slurmctld -f slurm.conf
for i in 1 2 3 4; do slurmd -N n$i -f slurm.conf; done
for _ in $(seq 300); do [ "$(sinfo -h -o %t -N | grep -c idle)" = 4 ] && break; sleep 0.1; done
[ "$(sinfo -h -o %t -N | grep -c idle)" = 4 ] ||
    { echo "skipped: Slurm does not start: $(sinfo 2>&1; tail -2 ctld.log)"; exit 77; }

job() { # count, command, time, more of the task, more of the job
    printf '{"nodes": "slurm", "retries": 0, "tasks": [{"name": "t", "count": %s, "command": "%s", "time": "%s"%s}]%s}' \
        "$1" "$2" "$3" "${4:-}" "${5:-}" >job.json
}
batch() { # name, options…: cu-run in an allocation, its output in name.out; the job's number in $id
    name=$1
    shift
    printf '#!/bin/sh\ncd %s\nexec %s/cu-run run job.json --quiet --json run.json --results %s.results\n' "$work" "$bin" "$name" >"$name.sh"
    id=$(sbatch --parsable -o "$work/$name.out" "$@" "$name.sh") || say "sbatch: $id"
}
finish() { # the job has ended
    for _ in $(seq 900); do squeue -h -j "$id" 2>/dev/null | grep -q . || return; sleep 0.1; done
    say "job $id does not end: $(cat "$work/$name.out")"
}

# four nodes, all used
job 16 "echo \$SLURMD_NODENAME >>$work/ran; sleep 0.3" 0.3
batch four -N4 --ntasks-per-node=2
finish
[ "$(sort -u ran | wc -l)" = 4 ] && [ "$(wc -l <ran)" = 16 ] || say "four nodes: $(sort ran | uniq -c) $(cat four.out)"

# two allocations of one cpu of the same node: each on its own
for a in 1 2; do
    job 2 "grep Cpus_allowed_list /proc/self/status >>$work/cpus$a; sleep 3" 3
    cp job.json job$a.json
    batch alone$a -N1 -n1 -w n1
    sed -i "s/job.json/job$a.json/" alone$a.sh
    scancel "$id"
    id=$(sbatch --parsable -o "$work/alone$a.out" -N1 -n1 -w n1 "alone$a.sh")
done
finish
sleep 3
[ "$(sort -u cpus1 | wc -l)" = 1 ] && [ "$(sort -u cpus2 | wc -l)" = 1 ] && ! cmp -s cpus1 cpus2 ||
    say "cpus of two allocations: $(cat cpus1 cpus2 alone1.out alone2.out)"

echo "cpus of two allocations on one node: $(sort -u cpus1 | cut -f2) and $(sort -u cpus2 | cut -f2)"

# MPI over two nodes of four: as many ranks as the task has cores, on its nodes
if command -v mpirun >/dev/null; then
    job 2 "mpirun --allow-run-as-root --oversubscribe -n {cores} hostname >>$work/ranks{id}; printenv SLURM_NNODES >>$work/nodes{id}" '4/p+1' ', "cluster": true, "most_cores": 4'
    batch mpi -N4 --ntasks-per-node=2
    finish
    for t in 0 1; do
        [ "$(wc -l <ranks$t)" = $((2 * $(cat nodes$t))) ] ||
            say "MPI: $(cat ranks$t) ranks on $(cat nodes$t) nodes: $(cat mpi.out mpi.results/$t.err)"
    done
    echo "MPI: $(cat nodes0) nodes, $(wc -l <ranks0) ranks"
fi

# a node is lost: its tasks run elsewhere
rm -f ran
job 16 "sleep 1; echo {id} \$SLURMD_NODENAME >>$work/ran" 1
batch lost -N4 --ntasks-per-node=2
for _ in $(seq 300); do [ -s ran ] && break; sleep 0.1; done
victim=$(pgrep -x cu-run-agent | head -1)
kill -9 "$(cat n3.pid)"
for p in $(pgrep -x cu-run-agent); do tr '\0' '\n' <"/proc/$p/environ" | grep -q SLURMD_NODENAME=n3 && victim=$p; done
kill -9 "$victim"
finish
[ "$(awk '{print $1}' ran | sort -u | wc -l)" = 16 ] || say "a lost node: $(cat ran lost.out)"
grep -q "node 'n3' is lost" lost.out || say "the lost node is not named: $(cat lost.out)"
echo "a lost node: $(grep lost lost.out)"
slurmd -N n3 -f slurm.conf

# scancel is nobody's failure
for _ in $(seq 300); do [ "$(sinfo -h -o %t -N | grep -c idle)" = 4 ] && break; sleep 0.1; done
job 16 "sleep 20.25" 20
batch cancelled -N4 --ntasks-per-node=2
for _ in $(seq 300); do [ "$(pgrep -fc 'sleep 20.25')" -ge 8 ] && break; sleep 0.1; done
scancel "$id"
finish
sleep 2
grep -q 'failed tasks' cancelled.out && say "scancel: $(cat cancelled.out)"
grep -q '"status":1[0-9][0-9]' cancelled.results/journal && say "scancel is a failure: $(cat cancelled.results/journal)"
echo "scancel: $(cat cancelled.out)"
grep -q resume cancelled.out || say "scancel: $(cat cancelled.out)"
pgrep -f 'sleep 20.25' >/dev/null && say 'scancel: tasks run on'

# the allocation's end: what would not end in time does not start
job 12 "sleep 14" 14
batch ends -N1 -n1 -t 1
finish
grep -q 'no time left' ends.out || say "the allocation's end: $(cat ends.out)"
grep -q '"failed": 0' run.json || say "the allocation's end: $(cat run.json)"
echo "the allocation's end: $(cat ends.out)"
for f in n1 n2 n3 n4 ctld; do kill "$(cat $f.pid)" 2>/dev/null; done
exit $failed
