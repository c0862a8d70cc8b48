# tests/e2e/machine.sh – restricted machines: no home, few threads, little memory, full disks, containers.
# Needs BIN; run through tests/run.sh.
. tests/check.sh
needs_two_cpus
unset CU_LAYOUT CU_DEVICES CU_PROFILE_DIR OMP_PLACES OMP_PROC_BIND
# What GPUs' drivers need of threads, memory and folders is not limited here.
export CUDA_VISIBLE_DEVICES= ROCR_VISIBLE_DEVICES=
only_cpus_of_opencl
bt() { "$BIN/bt-mz" --class S --schedule static --quiet "$@"; }

# Layouts too large for any machine.
few() { (ulimit -v 3000000 && bt "$@"); }
for layout in 1500x1 1x1500 3x700; do
    refused 3 "layout $layout: .* threads, but no more than" few --layout $layout
done
for layout in 0x0 -1x1 1x-1 1x1+-1 99999999999999999999x1 1048577x1 1024x1025 1x1+1048576 65536x65536; do
    refused 2 "layout '$layout'" bt --layout=$layout
done
refused 3 '300 devices' bt --layout 0x0+300

# No home, and homes that are not writable; private caches, so that no other cache helps.
device=
has_opencl && device='--layout 1x1+1 --devices opencl:0'
mkdir "$work/tmp"
for home in -uHOME HOME=/proc HOME=/dev/null/home HOME=; do
    env -u XDG_CACHE_HOME -u POCL_CACHE_DIR "$home" TMPDIR="$work/tmp" \
        "$BIN/bt-mz" --class S --quiet $device >"$work/out" 2>&1 ||
        say "$home: $(cat "$work/out")"
    [ -s "$work/out" ] && say "$home: it says $(cat "$work/out")"
done
[ -z "$device" ] || [ -d "$work/tmp/evenkeel-$(id -u)/pocl" ] || say 'the cache is elsewhere'
nowhere() { env -u XDG_CACHE_HOME HOME=/proc TMPDIR=/proc "$BIN/bt-mz" --class S --layout 1x1 --quiet "$@"; }
nowhere || say "no folder can be written: exit $?"
refused 3 'profiles have no folder' nowhere --profile=make
[ -z "$device" ] || refused 3 'POCL_CACHE_DIR' env -u XDG_CACHE_HOME -u POCL_CACHE_DIR HOME=/proc \
    TMPDIR=/proc "$BIN/bt-mz" --class S --layout 0x0+1 --devices opencl:0

# A cache on a full disk, or on one from which no code may be loaded, is not used.
mkdir "$work/full"
for limit in size=64k noexec; do
    [ -n "$device" ] && mount -t tmpfs -o $limit none "$work/full" 2>/dev/null || continue
    env -u POCL_CACHE_DIR XDG_CACHE_HOME="$work/full" TMPDIR="$work/tmp" "$BIN/bt-mz" --class S --quiet $device >"$work/out" 2>&1 ||
        say "a cache with $limit: $(cat "$work/out")"
    umount "$work/full"
done
[ -z "$device" ] || POCL_CACHE_DIR= bt $device >"$work/out" 2>&1 || say "POCL_CACHE_DIR is empty: $(cat "$work/out")"

# Without devices the demonstration uses the cores.
OCL_ICD_VENDORS=/nonexistent CLASS=S BIN=$BIN REPORT="$work/a report" sh npb_mz/examples/demo.sh \
    >"$work/out" 2>&1 || say "no device, no demonstration: $(tail -2 "$work/out")"
grep -q 'no OpenCL device' "$work/out" || say "the demonstration without a device: $(head -3 "$work/out")"
[ -s "$work/a report/bt-mz.html" ] || say 'the demonstration leaves no page'

# A full or closed standard output, for every program.
for program in "$BIN"/*; do
    for option in --help --version; do
        full() { "$program" $option >/dev/full; }
        closed() { "$program" $option >&-; }
        refused 3 'standard output' full
        refused 3 'standard output' closed
    done
done
full() { "$@" >/dev/full; }
closed() { "$@" >&-; }
job=okada_mogi/examples/campi.json
"$BIN/mcsem" --generate tiny --out "$work/all.csv" >/dev/null
awk 'NR == 2 || NR == 3 || NR == 5 || (NR > 5 && int((NR - 6) / 2) % 3 == 0)' "$work/all.csv" >"$work/survey.csv"
cat >"$work/job.json" <<'END'
{"nodes": "localhost", "tasks": [{"name": "a", "command": "sleep {seconds}", "time": "0.01/p"}]}
END
for to in full closed; do
    refused 3 'standard output' $to "$BIN/cu-info"
    refused 3 'standard output' $to "$BIN/cu-plan" --simulate tests/data/cu/pcf-40.json
    refused 3 'standard output' $to "$BIN/cu-run" plan --tasks '2 x 7/p' --nodes 'n:2:1'
    for program in bt-mz sp-mz lu-mz; do
        refused 3 'standard output' $to "$BIN/$program" --class S --layout 1x1
    done
    refused 3 'standard output' $to "$BIN/mogi" $job --layout 1x1
    refused 3 'standard output' $to "$BIN/kirchhoff-tt" --velocity const:v=1500 --grid 11x11x11:20m \
        --shots 1 --out "$work/tt" --layout 1x1
done
# No file gets the descriptor of a closed standard stream.
"$BIN/bt-mz" --class S --layout 1x1 --json "$work/json" >&- 2>/dev/null
head -c 1 "$work/json" | grep -q '{' || say 'text and JSON are in one file'

# A reader that closes the pipe early: the run writes its files, prints no error and ends by SIGPIPE; if the caller
# ignores that signal, it is an error like a full disk.
left() { # files that must be there, command…
    files=$1
    shift
    rm -f $files
    (exec 3> >(exec >&- 2>&-; exit); sleep 0.3; exec "$@" >&3) 2>"$work/err"
    rc=$?
    [ $rc = 141 ] && [ ! -s "$work/err" ] || say "$*, nobody reads: exits $rc: $(cat "$work/err")"
    for file in $files; do [ -s "$file" ] || say "$*, nobody reads: $file is lost"; done
}
left '' "$BIN/cu-info"
left "$work/a" "$BIN/cu-plan" --simulate tests/data/cu/pcf-40.json --json "$work/a"
left '' "$BIN/cu-plan" --simulate tests/data/cu/pcf-40.json --json -
left "$work/a" "$BIN/bt-mz" --class S --layout 1x1 --json "$work/a"
left "$work/a $work/b" "$BIN/mogi" $job --layout 1x1 --out "$work/a" --json "$work/b"
left "$work/tt/index.json" "$BIN/kirchhoff-tt" --velocity const:v=1500 --grid 11x11x11:20m --shots 1 --out "$work/tt" --layout 1x1
left "$work/a" "$BIN/mcsem" "$work/survey.csv" --iterations 1 --least-iterations 1 --target 100 --layout 1x1 --model-out "$work/a"
ignored() { (trap '' PIPE; exec 3> >(exec >&- 2>&-; exit); sleep 0.3; exec "$BIN/cu-info" >&3); }
refused 3 'standard output' ignored

# Outputs that cannot be written, of every kind.
unwritten() { refused 3 /dev/full "$@"; }
unwritten "$BIN/cu-info" --json /dev/full
unwritten "$BIN/cu-plan" --simulate tests/data/cu/pcf-40.json --schedules static --json /dev/full
for option in --json --report; do
    unwritten "$BIN/cu-run" plan --tasks '2 x 7/p' --nodes 'n:2:1' $option /dev/full
    unwritten "$BIN/cu-run" run "$work/job.json" --results "$work/r$option" $option /dev/full
done
unwritten "$BIN/cu-run" calibrate "$work/job.json" --out /dev/full
for option in --json --report --trace; do
    unwritten bt --layout 1x1 $option /dev/full
done
for option in --out --residuals --binary; do
    unwritten "$BIN/mogi" $job --layout 1x1 --quiet $option /dev/full
done
for option in --model-out --responses --history --cells; do
    unwritten "$BIN/mcsem" "$work/survey.csv" --iterations 0 --layout 1x1 --quiet $option /dev/full
done
unwritten "$BIN/mcsem" --generate tiny --out /dev/full
"$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" >/dev/null
unwritten "$BIN/kirchhoff-mig" --generate small --out /dev/full
unwritten "$BIN/kirchhoff-mig" "$work/data.segy" --headers /dev/full
[ -c /dev/full ] || say '/dev/full was replaced by a file'

# Limits on file sizes, stacks, threads and address space give a message and exit 3: not a signal, and not
# exit 1, which means a wrong result.
large() { (ulimit -f 1 && exec "$BIN/$@"); }
tasks='2 x 7/p'
refused 3 "$work/o" large cu-plan --simulate tests/data/cu/pcf-40.json --json "$work/o"
refused 3 "$work/o" large cu-run plan --tasks "$tasks" --nodes n:2:1 --report "$work/o"
refused 3 "$work/o" large mcsem --generate tiny --out "$work/o"
refused 3 "$work/o" large kirchhoff-mig --generate small --out "$work/o"
refused 3 "$work/o" large kirchhoff-mig "$work/data.segy" --headers "$work/o"
[ -e "$work/o" ] && say 'half a file is left'
tt() { "$BIN/kirchhoff-tt" --velocity const:v=1500 --grid 9x9x9:100m --shots 2 --layout 2x1 --out "$work/tt" --quiet; }
if [ -z "${SAN:-}" ]; then
    invert() { "$BIN/mcsem" "$work/survey.csv" --iterations 1 --least-iterations 1 --target 100 --layout 2x1 --quiet; }
    for stack in 16k 32k 64 -1 18446744073709551616 18446744073709551615G; do
        OMP_STACKSIZE=$stack tt >"$work/out" 2>&1 || say "OMP_STACKSIZE=$stack: $(cat "$work/out")"
        OMP_STACKSIZE=$stack invert >"$work/out" 2>&1 || say "OMP_STACKSIZE=$stack, mcsem: $(cat "$work/out")"
    done
    (ulimit -Ss 64 && invert) >"$work/out" 2>&1 || say "ulimit -Ss 64: $(cat "$work/out")"
    no_stack() { (ulimit -s 64 && tt); }
    refused 3 'stacks may have 64 KiB' no_stack
    export OMP_STACKSIZE=100000G
    refused 3 'no more than 1 can be started' tt
    "$BIN/mcsem" --generate tiny --out "$work/o" >"$work/out" 2>&1
    [ $? = 3 ] || say "OpenMP gets no thread, and that is not exit 3: $(cat "$work/out")"
    unset OMP_STACKSIZE
    # OpenBLAS would retry its allocation for ever; one that has threads starts them before main().
    small() { (export OPENBLAS_NUM_THREADS=1; ulimit -v 230000 && timeout -k 1 60 "$BIN/mcsem" "$work/survey.csv" --layout 1x1 --iterations 1 --quiet 2>&1 | grep -v warning: >&2; exit "${PIPESTATUS[0]}"); }
    refused 3 'memory\|address space' small
fi

# Variables left by an outer mpirun or another MPI: there are no other ranks, and a part must not pass for all.
if command -v mpirun >/dev/null; then
    left() { (with_mpi; OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 exec "$@"); }
    refused 3 'MPI knows of no other' left "$BIN/okada" okada_mogi/examples/parkfield.json --layout 1x1 --trials 0:9 --quiet
    refused 3 'MPI knows of no other' left "$BIN/kirchhoff-mig" "$work/data.segy" --velocity const:v=2000 --layout 1x1 \
        --grid 5x5x5:20m --out "$work/o" --quiet
fi
# Nonsense in such variables is no number of ranks.
for ranks in -3 0 many 999999999999; do
    OMPI_COMM_WORLD_SIZE=$ranks OMPI_COMM_WORLD_LOCAL_SIZE=$ranks "$BIN/mogi" $job --layout 1x1 --quiet >"$work/out" 2>&1 ||
        say "$ranks ranks: $(cat "$work/out")"
done
# LLVM's OpenMP runtime, which reads its environment later than gcc's, in the place of gcc's.
llvm=$(ls /usr/lib/llvm-*/lib/libomp.so.5 2>/dev/null | tail -1)
if [ -n "$llvm" ] && ldd "$BIN/bt-mz" | grep -q libgomp; then
    mkdir "$work/llvm" && ln -s "$llvm" "$work/llvm/libgomp.so.1"
    LD_LIBRARY_PATH=$work/llvm bt --layout 2x1 2>"$work/err" || say "with $llvm: exit $?: $(cat "$work/err")"
fi

# The caller ignores SIGCHLD.
python3 - "$BIN/cu-run" run "$work/job.json" --results "$work/ignored" --quiet >"$work/out" 2>&1 <<'END' || say "SIGCHLD ignored: $(cat "$work/out")"
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = subprocess.Popen(sys.argv[1:], start_new_session=True)
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
try:
    sys.exit(child.wait(60))
except subprocess.TimeoutExpired:
    child.kill()
    sys.exit('hangs')
END
# A file system that cannot sync: the file is written anyway.
cat >"$work/system.c" <<'END'
#include <errno.h>
int fsync(int fd) { return errno = ENOSYS, -1; }
END
if [ -z "${SAN:-}" ] && ${CC:-cc} -w -shared -fPIC "$work/system.c" -o "$work/system.so"; then
    LD_PRELOAD=$work/system.so "$BIN/cu-plan" --simulate tests/data/cu/pcf-40.json --json "$work/poor" >/dev/null 2>"$work/err" &&
        [ -s "$work/poor" ] || say "a poor file system: $(cat "$work/err")"
fi
# A single file mounted into a container cannot be replaced: an error before the run.
mounted() { unshare --mount bash -c 'mount --bind "$1" "$1" && shift && exec "$@"' bash "$@"; }
echo old >"$work/mounted"
if mounted "$work/mounted" true 2>/dev/null; then
    refused 3 'mounted: cannot be written: Device or resource busy' mounted "$work/mounted" \
        "$BIN/bt-mz" --class S --layout 1x1 --quiet --json "$work/mounted"
fi
# A library that aborts ends the program with exit 3; a damaged heap and a failed assertion remain SIGABRT.
cat >"$work/library.c" <<'END'
#include <assert.h>
#include <stdlib.h>
#include <string.h>
int hwloc_topology_init(void **topology)
{
    char *block = malloc(100), *how = getenv("HOW");
    if (!strcmp(how, "abort"))
        abort();
    assert(strcmp(how, "assertion"));
    memset(block - 8, 0x41, 40);
    free(block);
    exit(0);
}
END
if [ -z "${SAN:-}" ] && ${CC:-cc} -w -O0 -shared -fPIC "$work/library.c" -o "$work/library.so"; then
    gives_up() { (ulimit -c 0; HOW=$1 LD_PRELOAD=$work/library.so exec "$BIN/cu-info"); }
    refused 3 'library.so gave up' gives_up abort
    for how in heap assertion; do
        gives_up $how >"$work/out" 2>&1
        rc=$?
        [ $rc = 134 ] && ! grep -q 'gave up' "$work/out" || say "$how: exits $rc: $(cat "$work/out")"
    done
fi
# PoCL cannot start its threads: its device is skipped.
as_nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi; }
alone() { as_nobody bash -c 'ulimit -u 1; exec "$@"' bash env HOME="$work/home" "$@"; }
chmod 755 "$work"
if [ -z "${SAN:-}" ] && [ -n "$device" ] && as_nobody "$BIN/cu-info" --version >/dev/null 2>&1; then
    alone "$BIN/cu-info" >"$work/out" 2>&1 || say "no thread for PoCL: $(cat "$work/out")"
    grep -q 'opencl .*PoCL needs .* threads' "$work/out" || say "no thread for PoCL: $(grep opencl "$work/out")"
    refused 3 'PoCL needs .* threads' alone "$BIN/bt-mz" --class S --layout 0x0+1 --devices opencl:0
fi
# Limits of control groups, versions 1 and 2, of this group and of those above it.
group() { # file below /sys/fs/cgroup, its text, command…
    # Only that folder if possible: PoCL 5 gives up if /sys does not tell how much memory there is.
    unshare --mount bash -c '{ mount -t tmpfs none /sys/fs/cgroup || mount -t tmpfs none /sys; } 2>/dev/null &&
        mkdir -p "/sys/fs/cgroup/$(dirname "$1")" &&
        echo "$2" >"/sys/fs/cgroup/$1" && shift 2 && exec "$@"' bash "$@"
}
if [ -z "${SAN:-}" ] && group memory.max 1 true 2>/dev/null; then
    own=$(sed -n 's/^0::\(.*\)/\1/p' /proc/self/cgroup) old=$(sed -n 's/^[0-9]*:memory:\(.*\)/\1/p' /proc/self/cgroup)
    for file in memory.max "$own/memory.max" memory/memory.limit_in_bytes "memory$old/memory.limit_in_bytes"; do
        refused 3 '64 MB are available' group "$file" 64000000 "$BIN/bt-mz" --class B --layout 1x1
    done
    # What the group has taken already counts, but for files in memory that nobody uses.
    taken='echo 600000000 >/sys/fs/cgroup/memory.current; printf "anon 1\ninactive_file 24000000\n" >/sys/fs/cgroup/memory.stat; exec "$@"'
    refused 3 '64 MB are available' group memory.max 640000000 sh -c "$taken" sh "$BIN/bt-mz" --class B --layout 1x1
    group memory.max 640000000 "$BIN/cu-info" >"$work/out" 2>&1
    grep -q '^memory .* this process may use 0.64 GB' "$work/out" || say "a limit of memory: $(grep '^memory' "$work/out")"
    # Ranks on one node share the quota.
    OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 group cpu.max '200000 100000' "$BIN/cu-info" >"$work/out" 2>&1
    grep -q '^layout *1x1$' "$work/out" || say "a quota for two ranks: $(grep '^layout' "$work/out")"
    for quota in '13000 100000' '3000 100000' 'max 100000'; do
        group cpu.max "$quota" "$BIN/cu-info" >"$work/out" 2>&1 || say "quota $quota: $(cat "$work/out")"
        case $quota in
        max*) grep -q '^quota' "$work/out" && say "quota $quota: $(grep '^quota' "$work/out")" ;;
        *) grep -q '^layout *1x1$' "$work/out" || say "quota $quota: $(grep '^layout' "$work/out")" ;;
        esac
    done
fi
# Two NUMA nodes, of which this process may use only the memory of one: OMP_PLACES counts both.
nodes() {
    unshare --mount bash -c 'node=/sys/devices/system/node
        mount -t tmpfs none $node && mkdir $node/node0 $node/node1 && echo 0-1 >$node/online && cp $node/online $node/possible || exit
        for n in 0 1; do
            echo "$n" >$node/node$n/cpulist && echo $((n + 1)) >$node/node$n/cpumap
            echo "Node $n MemTotal: 8000000 kB" >$node/node$n/meminfo
        done
        exec taskset -c 0-1 "$@"' bash "$@"
}
if [ -z "${SAN:-}" ] && nodes true >/dev/null 2>&1; then
    OMP_PLACES=numa_domains nodes "$BIN/bt-mz" --class S --quiet --json "$work/nodes" >"$work/out" 2>&1 ||
        say "NUMA nodes: $(cat "$work/out")"
    grep -q '"layout": "2x1"' "$work/nodes" || say "NUMA nodes: $(grep '"layout"' "$work/nodes")"
fi
# Neither /proc nor /sys.
bare() { unshare --mount sh -c 'mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec "$@"' sh "$@"; }
if [ -z "${SAN:-}" ] && bare true 2>/dev/null; then
    bare "$BIN/bt-mz" --class S --layout 2x1 --quiet --json "$work/bare" >"$work/out" 2>&1 && [ ! -s "$work/out" ] ||
        say "neither /proc nor /sys: $(cat "$work/out")"
    grep -q '"verified": true' "$work/bare" || say 'neither /proc nor /sys: not verified'
fi
# A requested file that would be empty is reported.
"$BIN/okada" okada_mogi/examples/parkfield.json --trials 376000000:376000100 --layout 1x1 --quiet --residuals "$work/none" 2>"$work/err"
grep -q "$work/none: not written" "$work/err" || say "no residuals, and nothing is said: $(cat "$work/err")"
exit $failed
