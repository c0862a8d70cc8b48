# tests/e2e/fakegpu.sh – the programs on fake GPUs of both vendors: results, mixed nodes, faults. The
# fakes are described in tests/fakegpu/fake.h. Needs BIN and BUILD; run through tests/run.sh.
unset OMP_PLACES OMP_PROC_BIND CU_LAYOUT CU_DEVICES
. tests/check.sh
needs_two_cpus
only_cpus_of_opencl
has_opencl || { echo 'no OpenCL device here for the fake GPUs'; exit 77; }
fakes=$(cd "$BUILD/fakegpu" && pwd) || exit 1
export LD_LIBRARY_PATH=$fakes${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

verified() { # program, devices, layout, more arguments…: exit 0, verified, nothing to complain of
    program=$1 devices=$2 layout=$3
    shift 3
    "$BIN/$program" --devices "$devices" --layout "$layout" "$@" --json "$work/json" \
        >"$work/out" 2>"$work/err" || say "$program $devices $layout $*: exit $?: $(cat "$work/err")"
    grep -q '"verified": true' "$work/json" || say "$program $devices $layout $*: not verified"
    grep fakegpu: "$work/err" && say "$program $devices $layout $*: the fakes complain"
    grep -q '"starving_s": [0-9]' "$work/json" || say "$program $devices $layout $*: starving devices are not told"
}

moved() { sed -n 's/^ *"bytes_moved": \([0-9]*\).*/\1/p' "$work/json"; }
come_and_go() { # program, memory that zones do not fit into all at once: the same bits, told as moved
    verified $1 cuda:0 0x0+1 --class S
    once=$(moved)
    verified $1 cuda:0,hip:1 0x0+2 --class S --schedule dynamic
    first=$(norms <"$work/json")
    FAKEGPU_MEMORY=$2 verified $1 cuda:0 0x0+1x2 --class S
    [ "$(moved)" -gt $((20 * once)) ] || say "$1: zones that come and go move $(moved) bytes, once is $once"
    [ -n "$first" ] && [ "$(norms <"$work/json")" = "$first" ] || say "$1: other norms where zones come and go"
    FAKEGPU_MEMORY=$2 verified $1 cuda:0,hip:1 1x1+2 --class S --schedule dynamic
}

exact="$work/few --mode exact --iterations 1 --target 20 --quiet --model-out"
like_the_host() { # FAKEGPU_EAGER, devices and layout of a run…: mcsem gives the host's model
    "$BIN/mcsem" --generate small --out "$work/survey" || say 'mcsem: no survey'
    awk 'NR == 2 || NR == 3 || NR == 5 || (NR > 5 && int((NR - 6) / 3) % 80 == 0)' "$work/survey" >"$work/few"
    "$BIN/mcsem" $exact "$work/model" --layout 1x1 2>/dev/null || say 'mcsem: no model'
    for run; do
        FAKEGPU_EAGER=${run%% *} verified mcsem ${run#* } $exact "$work/other" --schedule dynamic
        cmp -s "$work/model" "$work/other" || say "mcsem: another model with $run"
    done
}
two_ranks() { # FAKEMPI_CUDA, messages in devices' memory, arguments…
    takes=$1 messages=$2
    shift 2
    mpirun --allow-run-as-root --oversubscribe -n 2 env LD_PRELOAD="$fakes/libfakempi.so" FAKEMPI_CUDA="$takes" \
        "$BIN/sp-mz" "$@" --json "$work/json" >"$work/out" 2>"$work/err" || say "two ranks $*: $(cat "$work/err")"
    grep -E 'fake(gpu|mpi):' "$work/err" && say "two ranks $*: the fakes complain"
    [ "$(grep -cE "memory: ($messages) sent, ($messages) received" "$work/err")" = 2 ] || say "two ranks $*: $(cat "$work/err")"
}
two_nodes() { # memory node of cuda:0: cpus 0 and 1 as a machine in hwloc's XML
    local node sets
    cat <<END
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3">
END
    for node in 0 1; do
        sets=$(printf ' %s="0x'$((node + 1))'"' cpuset complete_cpuset nodeset complete_nodeset)
        printf '<object type="Package" os_index="%s"%s><object type="NUMANode" os_index="%s"%s local_memory="1073741824"/>\n' $node "$sets" $node "$sets"
        [ $node != $1 ] || cat <<END
<object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[80-ff]">
<object type="PCIDev" pci_busid="0000:a0:00.0" pci_type="0302 [10de:2330] [0000:0000] a1" pci_link_speed="0.0"/></object>
END
        printf '<object type="Core" os_index="%s"%s><object type="PU" os_index="%s"%s/></object></object>\n' $node "$sets" $node "$sets"
    done
    echo '</object></topology>'
}

if [ -n "${EK_LONG:-}" ]; then # this alone
    verified bt-mz cuda:0 0x0+1 --class W
    verified bt-mz hip:0,cuda:1 2x1+2 --class W
    verified sp-mz hip:0,hip:1 1x1+2 --class W
    FAKEGPU_MEMORY=5 verified bt-mz cuda:0,hip:0 0x0+2 --class W
    come_and_go lu-mz 100k
    FAKEGPU_EAGER=1 come_and_go sp-mz 420k
    like_the_host '1 hip:1 1x1+1' '1 cuda:0 0x0+1x3'
    two_ranks 0 0 --class W --steps 3 --layout 2x1+1 --schedule static
    two_ranks 0 0 --class S --layout 1x1+1 --schedule dynamic
    # Two devices that PoCL computes in the calling thread: sharing the kernels of one build would abort
    # the process.
    POCL_DEVICES='basic basic' verified mogi opencl:0,opencl:1 0x0+2 okada_mogi/examples/campi.json
    exit $failed
fi

# With several memory nodes, a device's thread runs beside it, and the unit elsewhere.
if taskset -c 0,1 true 2>/dev/null; then
    for node in 0 1; do
        two_nodes $node >"$work/machine.xml"
        HWLOC_THISSYSTEM=1 HWLOC_XMLFILE=$work/machine.xml CU_DISPLAY_ENV=true taskset -c 0,1 "$BIN/bt-mz" --class S --layout 1x1+1 --devices cuda:0 \
            >"$work/out" 2>&1 || say "two memory nodes, the device on $node: exit $?: $(cat "$work/out")"
        grep -qF "OMP_PLACES = '{$((1 - node))}:2:$((2 * node - 1))'" "$work/out" || say "two memory nodes, the device on $node: $(grep PLACES "$work/out")"
    done
fi

# Each program alone on two GPUs, on one of the other vendor, and on a mixed node.
for program in bt-mz sp-mz lu-mz; do
    verified $program cuda:0,cuda:1 0x0+2 --class S --schedule dynamic
    [ $program = bt-mz ] || verified $program hip:0 0x0+1 --class S # BT: below
    FAKEGPU_EAGER=2 verified $program cuda:0,opencl:0,hip:1 1x1+3 --class S --schedule dynamic
done
grep -q '^lost to  *feeding' "$work/out" || say "no word of what devices lose to feeding: $(cat "$work/out")"

# Queues that work as early as possible instead of as late as possible: the others before the first one
# (1), or the first one before the others (2).
FAKEGPU_EAGER=1 verified bt-mz cuda:0,cuda:1 0x0+2 --class S --schedule dynamic

# The same bits on any device if contraction is the same: two vendors, one compiler behind them.
verified bt-mz cuda:0 0x0+1 --class S
first=$(norms <"$work/json")
verified bt-mz hip:0,cuda:1 0x0+2 --class S --schedule dynamic
[ -n "$first" ] && [ "$(norms <"$work/json")" = "$first" ] || say 'norms differ between devices'

# mcsem: bit-identical to the host's model.
like_the_host '0 cuda:0 1x1+1' '2 hip:0 0x0+1x2'
# A device is lost while two threads feed it: others compute its cells.
FAKEGPU_FAULT=lost:9 verified mcsem cuda:0 1x1+1x2 $exact "$work/other" --schedule dynamic
grep -q '"units_lost": 1' "$work/json" || say 'mcsem: no unit is reported as lost'
cmp -s "$work/model" "$work/other" || say 'mcsem: another model where a device died'

# Shared mode: devices make the tables, several at a time; in a small one's memory there is room for none.
shared="$work/survey --iterations 1 --target 20 --quiet --model-out"
"$BIN/mcsem" $shared "$work/tables" --layout 1x1 2>/dev/null || say 'mcsem: no model in shared mode'
for run in '2 4000 cuda:0 0x0+1x3 static' '1 4000 hip:0 1x1+1 dynamic' '0 50 cuda:0 0x0+1 static'; do
    read -r eager memory device layout schedule <<<"$run"
    FAKEGPU_EAGER=$eager FAKEGPU_MEMORY=$memory FAKEGPU_PRICE=h100 FAKEGPU_FILL=1 verified mcsem $device $layout $shared "$work/other" --schedule $schedule
    cmp -s "$work/tables" "$work/other" || say "mcsem: another model in shared mode with $run"
    tables=$(sed -n 's/^table_rows: \([0-9]*\) launches.*/\1/p' "$work/err")
    case $memory,$schedule in
    50,*) [ -z "$tables" ] || say "mcsem: $tables calls of tables in $memory MB" ;;
    *,static) [ "${tables:-99}" -le 16 ] || say "mcsem: ${tables:-no} calls of tables of 55 cells" ;;
    *) [ -n "$tables" ] || say "mcsem: no tables on $run" ;;
    esac
done

# The pairs of all of a device's cells are batched together, so that they fill it.
FAKEGPU_PRICE=h100 FAKEGPU_FILL=1 verified mcsem cuda:0 0x0+1 $exact "$work/other" --schedule static
cmp -s "$work/model" "$work/other" || say 'mcsem: another model where cells go together'
launches=$(sed -n 's/^exact_waves: \([0-9]*\) launches.*/\1/p' "$work/err")
[ "${launches:-99}" -le 8 ] || say "mcsem: ${launches:-no} launches for two steps of a survey"

# Tables: shots have their own handles on a device, so its idle time is not known.
"$BIN/kirchhoff-tt" --velocity const:v=1500 --grid 5x5x5:20m --shots 2 --out "$work/tt" --layout 1x1+1 --devices cuda:0 --json "$work/json" \
    >"$work/out" 2>"$work/err" && grep -q '"starving_s": null' "$work/json" && ! grep -q feeding "$work/out" ||
    say "kirchhoff-tt: a device's feeding that nobody knows is told: $(cat "$work/out" "$work/err")"

# Migration: bit-identical to the host's image; with enough memory, all columns at once.
"$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" --quiet || say 'kirchhoff-mig: no data'
image="$work/data.segy --velocity gradient:v0=2000,k=0.5 --node-spacing 800 --deterministic --quiet
       --grid 12x12x11:50x50x40@1300,1300,800 --raw"
"$BIN/kirchhoff-mig" $image "$work/host" --layout 1x1 >"$work/out" 2>"$work/err" || say "kirchhoff-mig: no image: $(cat "$work/err")"
for memory in 80000 40; do
    FAKEGPU_EAGER=$((memory < 80000)) FAKEGPU_PRICE=h100 FAKEGPU_MEMORY=$memory FAKEGPU_FILL=1 verified kirchhoff-mig cuda:0 0x0+1 $image "$work/device"
    cmp -s "$work/host.f32" "$work/device.f32" || say "kirchhoff-mig: another image on a card of $memory MB"
    sed -n 's/^migrate_rows: \([0-9]*\) launches.*/\1/p' "$work/err" >"$work/launches.$memory"
done
[ "$(cat "$work/launches.80000")" = 1 ] || say "kirchhoff-mig: rows are made by $(cat "$work/launches.80000") launches where one will do"
[ "$(cat "$work/launches.40")" -gt 1 ] || say 'kirchhoff-mig: as few launches on a small card'

# Several threads feed each device, of both vendors.
FAKEGPU_EAGER=2 verified kirchhoff-mig hip:0,cuda:1 0x0+2x3 $image "$work/device" --schedule dynamic
cmp -s "$work/host.f32" "$work/device.f32" || say 'kirchhoff-mig: another image where three threads feed each device'
verified bt-mz hip:0,cuda:1 0x0+2x2 --class S --schedule dynamic
[ "$(norms <"$work/json")" = "$first" ] || say 'other norms where two threads feed each device'
verified lu-mz hip:0,hip:1 1x1+2x2 --class S --schedule dynamic
"$BIN/mogi" okada_mogi/examples/campi.json --layout 1x1 --out "$work/found" >/dev/null 2>&1
for devices in cuda:0 hip:0; do
    FAKEGPU_EAGER=2 verified mogi $devices 0x0+1x3 okada_mogi/examples/campi.json --out "$work/fed"
    cmp -s "$work/found" "$work/fed" || say "mogi: other magma chambers where three threads feed $devices"
done

# Faces are copied directly between devices of one vendor.
FAKEGPU_PRICE=h100 FAKEGPU_BUSY=1 verified sp-mz cuda:0,cuda:1,hip:0 0x0+3 --class S --schedule static
[ "$(grep -c 'across 0\.0*[1-9]' "$work/err")" = 2 ] || say "faces do not go across: $(cat "$work/err")"

# Two ranks of a node use one GPU each; an MPI that accepts device memory gets faces directly, others
# never get a device address.
verified sp-mz cuda:0 0x0+1x3 --class S
first=$(norms <"$work/json")
verified sp-mz cuda:0 0x0+1 --class S
[ -n "$first" ] && [ "$(norms <"$work/json")" = "$first" ] || say 'sp-mz: other norms where three threads feed a device'
for takes in 0 1; do
    [ $takes = 1 ] && some='[1-9][0-9]*' || some=0
    two_ranks $takes "$some" --class S --layout 0x0+1
    grep -q '^devices: rank 0 cuda:0,rank 1 cuda:1$' "$work/out" || say "two ranks do not say their GPUs: $(cat "$work/out")"
    grep -q '"cuda:0"' "$work/json" && grep -q '"cuda:1"' "$work/json" || say 'two ranks take the same GPU'
    [ "$(norms <"$work/json")" = "$first" ] || say "other norms with two ranks ($takes)"
done
two_ranks 1 "$some" --class W --steps 3 --layout 2x1+1 --schedule static
two_ranks 1 '[0-9]+' --class S --layout 1x1+1 --schedule dynamic
grep -q 'share' "$work/err" && say "two ranks with a GPU each are said to share it: $(cat "$work/err")"
CU_MPI_DEVICES=0 two_ranks 1 0 --class S --layout 0x0+1 --devices hip:1
grep -c '2 ranks share hip:1' "$work/err" | grep -qx 1 || say "two ranks that share a GPU are not warned once: $(cat "$work/err")"

# Three ranks that take all GPUs: each one is used, by one rank.
mpirun --allow-run-as-root --oversubscribe -n 3 "$BIN/bt-mz" --class S --steps 2 --devices auto >"$work/out" 2>&1
grep -q '^devices: rank 0 cuda:0,cuda:1,rank 1 hip:0,rank 2 hip:1$' "$work/out" || say "three ranks do not divide four GPUs: $(cat "$work/out")"

# An older HIP, and HIP on top of CUDA.
LD_LIBRARY_PATH=$fakes/hip5:$LD_LIBRARY_PATH verified bt-mz hip:0 0x0+1 --class S
LD_LIBRARY_PATH=$fakes/hip2cuda:$LD_LIBRARY_PATH verified bt-mz hip:0,hip:1 0x0+2 --class S

# The listing: libraries, versions, devices.
"$BIN/cu-info" --layout 1x1 --json "$work/info" >/dev/null || say 'cu-info fails'
for words in '"name": "libcuda.so.1"' '"version": "CUDA 12.8"' '"name": "libamdhip64.so.6"' \
    '"version": "HIP 6.2"' '"arch": "sm_80"' '"arch": "gfx90a"' '"pci": "0000:a1:00.0"'; do
    grep -qF "$words" "$work/info" || say "cu-info: $words is missing"
done
# A GPU that two back ends list is one GPU: auto selects each address once.
LD_LIBRARY_PATH=$fakes/hip2cuda:$LD_LIBRARY_PATH refused 3 'auto found [23] of the 4' \
    "$BIN/bt-mz" --layout 0x0+4 --class S
FAKEGPU_DEVICES=1 refused 3 "there is no 'cuda:1'; cuda has 1: cuda:0 (Fake CUDA GPU 0)" \
    "$BIN/bt-mz" --devices cuda:1 --layout 0x0+1

# Too little memory for one zone: an error with both numbers. For all zones: those that do not fit are
# swapped in for a step, with the same bits. Less memory than the driver reports, because others use the
# card: as much as can be allocated.
FAKEGPU_MEMORY=1 refused 3 '[0-9.]\+ MB .*cuda:0.* [0-9.]\+ MB' "$BIN/bt-mz" --class W --devices cuda:0 --layout 0x0+1
come_and_go sp-mz 420k
FAKEGPU_FAULT=alloc:3 verified bt-mz hip:0 0x0+1 --class S
FAKEGPU_FAULT=alloc:8 refused 3 '[0-9.]\+ MB of device memory asked for, refused by the driver though [0-9.]\+ MB are free' \
    "$BIN/bt-mz" --class S --devices hip:0 --layout 0x0+1

# A text that does not compile: our file and line, in the vendor's format.
for device in cuda:0 hip:0; do
    FAKEGPU_FAULT=build:1 CU_KERNEL_CACHE=0 refused 2 \
        'npb_mz/kernels/[a-z]\+\.c:[0-9]\+:.*error: .*ID_0' "$BIN/bt-mz" --class S --devices $device --layout 0x0+1
done
# Refused launches, refused code, an unknown architecture.
FAKEGPU_FAULT=launch:7 refused 3 'registers or local memory' "$BIN/bt-mz" --class S --devices cuda:0 --layout 1x1+1
FAKEGPU_FAULT=load:1 CU_KERNEL_CACHE=0 refused 3 'made for gfx90a on a driver of HIP 6.2' \
    "$BIN/bt-mz" --class S --devices hip:0 --layout 0x0+1
# A driver without graphs.
FAKEGPU_FAULT=graph:1 verified lu-mz cuda:0,hip:0 0x0+2 --class S
FAKEGPU_ARCH=gfx942 refused 3 'died (signal 6)' "$BIN/bt-mz" --class S --devices hip:0 --layout 0x0+1
FAKEGPU_ARCH=sm_30 refused 3 'knows sm_50 and newer' "$BIN/bt-mz" --class S --devices cuda:0 --layout 0x0+1

# Errors of the driver's first call, with helpful messages.
FAKEGPU_INIT=802 refused 3 'nvidia-fabricmanager running?, CUDA error 802' "$BIN/bt-mz" --class S --devices cuda:0 --layout 0x0+1
FAKEGPU_INIT=46 refused 3 'another process has exclusive use of the device' "$BIN/bt-mz" --class S --devices cuda:0 --layout 0x0+1
FAKEGPU_INIT=101 refused 3 'HIP_VISIBLE_DEVICES' "$BIN/bt-mz" --class S --devices hip:0 --layout 0x0+1

# Precompiled code, made without a device: no compiler is called, and a device without code of its own
# runs the portable code for an older one.
(
    export CU_KERNEL_CODE=$work/code CU_KERNEL_CACHE=0
    CU_KERNEL_CODE_FOR=compute_50,sm_80,gfx90a "$BIN/bt-mz" --class S --steps 1 --devices host:0 --layout 0x0+1 \
        >"$work/out" 2>"$work/err" || say "no finished code: $(cat "$work/err")"
    [ "$(ls "$work/code" | wc -l)" = 3 ] || say "finished code: $(ls "$work/code" | wc -l) files instead of 3"
    FAKEGPU_FAULT=build:1 verified bt-mz cuda:0,hip:0 0x0+2 --class S
    FAKEGPU_FAULT=build:1 FAKEGPU_ARCH=sm_52 verified bt-mz cuda:0 0x0+1 --class S
    # Code for an older device of its generation first; if the driver refuses it, portable code.
    FAKEGPU_FAULT=build:1,load:1 FAKEGPU_ARCH=sm_86 verified bt-mz cuda:0 0x0+1 --class S
    for f in "$work"/code/*; do printf x >>"$f"; done
    FAKEGPU_FAULT=build:1 refused 2 'error: .*ID_0' "$BIN/bt-mz" --class S --devices cuda:0 --layout 0x0+1
    CU_KERNEL_CODE_FOR=sm_30000 refused 3 'sm_30000' "$BIN/bt-mz" --class S --steps 1 --devices host:0 --layout 0x0+1
    exit $failed
) || failed=1

# A lost device: its unit is retired, the others finish, the result verifies.
lost() { # fault, program, devices, layout
    fault=$1
    shift
    FAKEGPU_FAULT=$fault verified "$@" --class S --schedule dynamic
    grep -q '"units_lost": 1' "$work/json" || say "$fault $*: no unit is reported as lost"
}
lost lost:50@1 bt-mz cuda:0,cuda:1 0x0+2
lost lost:200 sp-mz hip:0 1x1+1
lost lost:300@0 lu-mz cuda:0,opencl:0 0x0+2
lost lost:40@0 bt-mz cuda:1,hip:0 1x1+2
FAKEGPU_FAULT=lost:20 "$BIN/bt-mz" --class S --devices cuda:0 --layout 0x0+1 >"$work/out" 2>"$work/err"
[ $? = 3 ] || say "losing the only unit is not exit 3: $(cat "$work/err")"

# No driver at all: one line, exit 3.
export LD_LIBRARY_PATH=/nonexistent
"$BIN/cu-info" --layout 1x1 >"$work/out" 2>&1
if ! grep -q '^cuda:0' "$work/out"; then
    refused 3 '^bt-mz: cuda: no device (.*)' "$BIN/bt-mz" --class W --devices cuda:0 --layout 0x0+1
fi
if grep -q 'libcuda.so.1 not loaded' "$work/out"; then
    refused 3 'cuda: no device (libcuda.so.1 not found)' "$BIN/bt-mz" --class W --devices cuda:0 --layout 0x0+1
fi
exit $failed
