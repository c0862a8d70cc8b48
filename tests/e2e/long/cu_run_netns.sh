# tests/e2e/long/cu_run_netns.sh – cu-run over hosts with networks of their own (network namespaces
# on a bridge, an sshd in each): lost packets, a network that is away for some seconds, and one that
# does not come back. Needs BIN, root, iproute2 and openssh-server; run through tests/run.sh.
set -u
PATH=$PATH:/usr/sbin:/sbin
for tool in sshd ip unshare; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
[ "$(id -u)" = 0 ] || { echo 'skipped: network namespaces want root'; exit 77; }
. tests/check.sh
bin=$(cd "$BIN" && pwd)
tag=ek$(($$ % 10000))
net=10.$((100 + $$ % 100)).$(($$ / 100 % 200))
cleanup() {
    for i in 1 2 3; do
        [ -s "$work/sshd$i.pid" ] && kill "$(cat "$work/sshd$i.pid")"
        ip netns del $tag-$i
    done
    ip link del $tag
    rm -rf "$work"
} 2>/dev/null
trap cleanup EXIT
cd "$work" || exit 1
ip link add $tag type bridge 2>err && ip addr add $net.254/24 dev $tag && ip link set $tag up ||
    { echo "skipped: no bridge can be made: $(cat err)"; exit 77; }
ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user
cp user.pub authorized
mkdir -p /run/sshd ssh
for i in 1 2 3; do
    ip netns add $tag-$i && ip link add $tag.$i type veth peer name eth0 netns $tag-$i 2>err ||
        { echo "skipped: no namespace can be made: $(cat err)"; exit 77; }
    ip link set $tag.$i master $tag up
    ip -n $tag-$i addr add $net.$i/24 dev eth0
    ip -n $tag-$i link set eth0 up
    ip -n $tag-$i link set lo up
    # what a login shell of this machine's root would start is not part of the test
    printf '%s\n' "SetEnv HOME=$work" "HostKey $work/host" "AuthorizedKeysFile $work/authorized" "PidFile $work/sshd$i.pid" \
        'UsePAM no' 'StrictModes no' 'PermitRootLogin yes' >sshd_config$i
    ip netns exec $tag-$i unshare -u sh -c "hostname n$i; exec $(command -v sshd) -f $work/sshd_config$i -E $work/sshd.log"
    printf 'Host n%s\n    HostName %s\n' $i $net.$i >>ssh_config
done
printf '%s\n' 'Host n*' '    User root' "    IdentityFile $work/user" '    StrictHostKeyChecking no' \
    '    UserKnownHostsFile /dev/null' '    LogLevel ERROR' >>ssh_config
printf '#!/bin/sh\nexec %s -F %s/ssh_config "$@"\n' "$(command -v ssh)" "$work" >ssh/ssh
chmod +x ssh/ssh
PATH=$work/ssh:$PATH
sleep 1
[ "$(ssh n2 hostname)" = n2 ] || { echo "skipped: ssh into a namespace fails: $(cat sshd.log)"; exit 77; }

job() { # count, command, time
    printf '{"nodes": [{"name": "n1", "host": "n1", "cores": 2}, {"name": "n2", "host": "n2", "cores": 2}, {"name": "n3", "host": "n3", "cores": 2}],
"oversubscribe": true, "retries": 0, "tasks": [{"name": "t", "count": %s, "command": "%s", "time": "%s"}]}' "$1" "$2" "$3" >job.json
}

# one packet of twenty is lost
loss=
if command -v nft >/dev/null && nft add table inet $tag 2>/dev/null; then
    nft "add chain inet $tag in { type filter hook input priority 0; }" &&
        nft add rule inet $tag in iifname $tag numgen random mod 100 '<' 5 drop && loss=yes
fi
job 18 "hostname >>$work/ran; sleep 0.2" 0.2
"$bin/cu-run" run job.json --quiet >out 2>err || say "three hosts: $(cat out err)"
[ "$(wc -l <ran)" = 18 ] && [ "$(sort -u ran | wc -l)" = 3 ] || say "three hosts: $(sort ran | uniq -c)"
[ -z "$loss" ] || nft delete table inet $tag
echo "packets lost: ${loss:-not tried, no nft}"

# a network that is away for six seconds costs no task: each runs once
rm -rf ran job.json.results
job 12 "echo {id} >>$work/ran; sleep 5" 5
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 200); do [ -s ran ] && break; sleep 0.1; done
sleep 1
ip link set $tag.2 down
sleep 6
ip link set $tag.2 up
wait $pid || say "a short absence: $(cat out err)"
[ "$(wc -l <ran)" = 12 ] || say "a short absence: $(sort ran | uniq -c)"
[ -s err ] && say "a short absence: $(cat err)"

# nor does it if ssh ends: the agents have connections of their own
rm -rf ran job.json.results
job 4 "echo {id} >>$work/ran; sleep 12" 12
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 200); do [ -s ran ] && [ "$(wc -l <ran)" = 4 ] && break; sleep 0.1; done
pkill -9 -P $pid -x ssh
for i in 1 2 3; do ip link set $tag.$i down; done
sleep 4
for i in 1 2 3; do ip link set $tag.$i up; done
wait $pid || say "without ssh: $(cat out err)"
[ "$(wc -l <ran)" = 4 ] && [ ! -s err ] || say "without ssh: $(sort ran | uniq -c) $(cat err)"

# one that does not come back: given up, and its tasks end there before they begin elsewhere
rm -rf ran job.json.results
job 12 "date +'{id} %s begins' >>$work/ran; sleep 8; date +'{id} %s ends' >>$work/ran" 8
"$bin/cu-run" run job.json --quiet >out 2>err & pid=$!
for _ in $(seq 200); do [ -s ran ] && [ "$(wc -l <ran)" = 6 ] && break; sleep 0.1; done
ip link set $tag.2 down
start=$(date +%s)
wait $pid || say "a lost host: $(cat out err)"
echo "a host that is cut off: the run ended after $(($(date +%s) - start)) s"
grep -q "node 'n2' is lost" err || say "a lost host is not named: $(cat err)"
[ "$(grep -c ends ran)" -ge 12 ] || say "a lost host: $(cat ran)"
for _ in $(seq 100); do ip netns pids $tag-2 | xargs -r ps -o comm= -p 2>/dev/null | grep -q cu-run || break; sleep 0.5; done
ip netns pids $tag-2 | xargs -r ps -o comm= -p | grep cu-run && say 'the agent of a lost host stays'
exit $failed
