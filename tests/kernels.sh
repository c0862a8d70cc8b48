#!/usr/bin/env bash
# tests/kernels.sh – compiles every kernel text with every compiler used for devices, on a machine
# without those devices, and lists each kernel's resources. Called by `make kernels`.
#
# nvrtc, hiprtc and pocl are the compilers of the back ends themselves; hip and opencl are clang with
# AMD's device libraries, which also reports resources; ptx is clang's NVIDIA target, used if NVRTC is
# missing: it shows that a text compiles to PTX, but not how many registers it needs.
# None of them shows that a kernel computes the right result: tests on devices do.
#
# A kernel fails when it does not compile, has no launch bounds, is missing, or spills more than the
# limit below. A compiler that is not installed is skipped, with the reason. TEXTS=word selects
# texts whose path contains it. Last line: "N passed, N failed[, N skipped]", a pass for each text and
# target.
set -u
export LC_ALL=C
rtc=${BUILD:-build}/tests/kernels_rtc words=$PWD/tests/kernels/words.h
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache POCL_CACHE_DIR=$work/pocl CU_KERNEL_CACHE=0
mkdir -p "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"

# Compilers, targets, and how many bytes a work-item may spill: gfx906 has 256 registers and no others to
# spill into; gfx908 and gfx90a have twice as many; NVIDIA's compiler spills a word or two if that lets
# one more group be resident.
targets='
nvrtc   sm_80   32
nvrtc   sm_90   32
ptx     sm_80   0
hip     gfx906  512
hip     gfx908  0
hip     gfx90a  0
opencl  gfx90a  0
hiprtc  gfx906  -
hiprtc  gfx908  -
hiprtc  gfx90a  -
pocl    cpu     -
'

clang() { # a version that knows these targets, 15 or later
    local c
    for c in clang-19 clang-18 clang-17 clang-16 clang-15 clang; do
        command -v $c && return
    done
    return 1
}
bitcode() { # AMD's device libraries
    dirname "$(ls /usr/lib/*/amdgcn/bitcode/ocml.bc /opt/rocm/amdgcn/bitcode/ocml.bc 2>/dev/null |
        head -1)" 2>/dev/null
}
CLANG=$(clang) BITCODE=$(bitcode)
export CLANG BITCODE rtc words work

# ---- one text for one target: exit 0, or 77 and a reason, or another and what went wrong ---------
# Rows go to $1/rows: kernel, group, registers, scalar, shared, stack, spilled, code, resident.

ptx_bounds() { # a line for each kernel's name, one for each launch bound
    sed -n 's/^\.visible \.entry \([a-z0-9_]*\).*/entry \1/p
            s/^\.maxntid \([0-9]*\)[, ]*\([0-9]*\)[, ]*\([0-9]*\).*/bounds \1 \2 \3/p' "$1"
}

# A multiprocessor holds 65536 registers (given out 8 a thread), 64 warps, 32 groups, 160 KiB shared.
nvidia_rows() { # directory: ptxas' words in log, launch bounds in ptx, sizes of code in the cubin
    { ptx_bounds "$1/ptx"
      readelf -SW "$1/code" 2>/dev/null | sed -n 's/.* \.text\.\([a-z0-9_]*\) *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/code \1 \2/p'
      cat "$1/log"; } | awk '
        $1 == "entry"  { name = $2; group[name] = "-" }
        $1 == "bounds" { group[name] = $2 * ($3 ? $3 : 1) * ($4 ? $4 : 1) }
        $1 == "code"   { code[$2] = $3 }
        /Function properties for/ { name = $NF }
        /bytes stack frame/ {
            for (i = 2; i < NF; i++) {
                if ($(i + 1) $(i + 2) == "bytesstack") stack = $i
                if ($(i + 1) $(i + 2) == "bytesspill" && $i > spilled + 0) spilled = $i } }
        /: Used [0-9]+ registers/ {
            match($0, /Used [0-9]+/); r = substr($0, RSTART + 5, RLENGTH - 5)
            shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART, RLENGTH) + 0 : 0
            g = group[name]; warps = int((g + 31) / 32)
            fit = warps ? int(int(65536 / (int((r + 7) / 8) * 256)) / warps) : 0
            if (warps && fit * warps > 64) fit = int(64 / warps)
            if (fit > 32) fit = 32
            if (shared && int(160 * 1024 / shared) < fit) fit = int(160 * 1024 / shared)
            print name, g, r, "-", shared, stack, spilled + 0, "0x" code[name], fit * g
            stack = spilled = 0 }'
}

amd_rows() { # assembly with its metadata
    awk '
        $1 == ".size" { sub(",", "", $2); name = $2 }
        /^; codeLenInByte/ { code[name] = $4 }
        /^; Occupancy/ { waves[name] = $3 }
        /^ *(- )?\.agpr_count:/ { acc = $NF }
        /^    \.name: / { name = $2 }
        /\.group_segment_fixed_size:/ { shared = $NF }
        /\.max_flat_workgroup_size:/ { group = $NF >= 1024 ? "-" : $NF }
        /\.private_segment_fixed_size:/ { stack = $NF }
        /\.sgpr_count:/ { scalar = $NF }
        /\.vgpr_count:/ { r = $NF }
        /\.vgpr_spill_count:/ {
            print name, group, r (acc && arch == "gfx908" ? "+" acc : ""), scalar, shared, stack,
                  4 * $NF, code[name], waves[name] * 256
            acc = 0 }' arch="$2" "$1"
}

nvrtc() { # text, arch, directory
    "$rtc" nvrtc "$2" "$1" "$3" >"$3/log" || { local rc=$?; cat "$3/log"; return $rc; }
    nvidia_rows "$3" >"$3/rows"
}

ptx() { # NVIDIA's dialect without NVIDIA's compiler: it parses and becomes PTX, registers unknown
    "$rtc" nvrtc none none "$3" >"$3/none"; [ $? = 77 ] || { echo "not needed, NVRTC is here"; return 77; }
    [ -n "$CLANG" ] || { echo 'no clang of version 15 or later'; return 77; }
    "$rtc" join "$1" >"$3/text.cu" && "$CLANG" -x cuda --cuda-device-only -nocudainc -nocudalib \
        --cuda-gpu-arch="$2" -std=c++14 -O3 -w -S -include "$words" -o "$3/ptx" "$3/text.cu" &&
        ptx_bounds "$3/ptx" | awk '
            $1 == "entry"  { name[++n] = $2; group[n] = "-" }
            $1 == "bounds" { group[n] = $2 * ($3 ? $3 : 1) * ($4 ? $4 : 1) }
            END { for (i = 1; i <= n; i++) print name[i], group[i], "- - - -", 0, 0, "-" }' >"$3/rows"
}

amd() { # text, arch, directory, clang options…
    local text=$1 arch=$2 dir=$3
    shift 3
    [ -n "$CLANG" ] || { echo 'no clang of version 15 or later'; return 77; }
    [ -e "$BITCODE/ocml.bc" ] || { echo 'no package rocm-device-libs'; return 77; }
    "$rtc" join "$text" >"$dir/text" && "$CLANG" "$@" --rocm-device-lib-path="$BITCODE" -O3 -w -S \
        -o "$dir/s" "$dir/text" && amd_rows "$dir/s" "$arch" >"$dir/rows"
}
hip() {
    amd "$@" -x hip --cuda-device-only -D__HIPCC_RTC__ -std=c++14 -nogpuinc -include "$words" \
        --offload-arch="$2"
}
opencl() {
    amd "$@" -x cl -cl-std=CL1.2 -D__OPENCL_VERSION__=120 -Xclang -finclude-default-header \
        -target amdgcn-amd-amdhsa -mcpu="$2"
}

hiprtc() { # aborts on targets that it does not know: a process of its own
    "$rtc" hiprtc "$2" "$1" "$3" && : >"$3/rows"
}
pocl() { "$rtc" opencl 0 "$1" && : >"$3/rows"; }

job() { # number, compiler, arch, text
    local dir=$work/$1
    mkdir -p "$dir"
    "$2" "$4" "$3" "$dir" >"$dir/words" 2>&1
    echo $? >"$dir/rc"
}
export -f ptx_bounds nvidia_rows amd_rows nvrtc ptx amd hip opencl hiprtc pocl job

# ---- all of them ----------------------------------------------------------------------------------

number=0
while read -r compiler arch limit; do
    [ -n "$compiler" ] || continue
    for text in $("$rtc" list | grep -F "${TEXTS:-/}"); do
        echo $((number += 1)) "$compiler" "$arch" "$text" "$limit"
    done
done <<<"$targets" >"$work/jobs"
xargs -P "$(nproc)" -n 5 bash -c 'job "$@"' _ <"$work/jobs"

passed=0 failed=0 skipped=0
bad() { # what is wrong
    echo "FAILED $1"
    wrong=1
}
check_rows() { # directory, text, target, limit
    local kernel group spilled rest
    while read -r kernel group rest; do
        read -r _ _ _ _ spilled _ <<<"$rest"
        [ "$group" != - ] || bad "$2: $kernel on $3 has no launch bounds: declare it by KERNEL(name, x, y, z)"
        [ "$spilled" -le "$4" ] || bad "$2: $kernel on $3 spills $spilled bytes, $4 are allowed"
    done <"$1/rows"
    for kernel in $(sed -n 's/^KERNEL(\([a-z0-9_]*\),.*/\1/p' "$2"); do
        grep -q "^$kernel " "$1/rows" || bad "$2: $kernel is missing on $3"
    done
}
while read -r n compiler arch text limit; do
    dir=$work/$n wrong=0
    case $(cat "$dir/rc") in
    0) [ "$limit" = - ] || check_rows "$dir" "$text" "$compiler $arch" "$limit" ;;
    77) skipped=$((skipped + 1)) wrong=2 && echo "$compiler $arch skipped: $(tail -1 "$dir/words")" >>"$work/skips" ;;
    *) bad "$text does not compile for $arch with $compiler:"
       grep -E 'error|abort|cannot' "$dir/words" | head -5 | sed 's/^/       /' ;;
    esac
    case $wrong in 0) passed=$((passed + 1)) ;; 1) failed=$((failed + 1)) ;; esac
    [ $wrong = 2 ] || echo "$compiler $arch" >>"$work/seen"
    [ ! -s "$dir/rows" ] || sed "s|^|$compiler $arch |" "$dir/rows" >>"$work/table"
done <"$work/jobs"

line='%-18s %-7s %-7s %5s %10s %7s %7s %7s %8s %6s %9s\n'
printf "$line" kernel target '' group registers scalar shared stack spilled code resident
sort -k3,3 -k1,2 "$work/table" 2>/dev/null |
    while read -r compiler arch kernel group registers scalar shared stack spilled code resident; do
        printf "$line" "$kernel" "$compiler" "$arch" "$group" "$registers" "$scalar" "$shared" \
            "$stack" "$spilled" $((code)) "$resident"
    done
echo 'shared, stack, spilled, code in bytes; resident: work-items that fit a multiprocessor by registers'
sort "$work/seen" 2>/dev/null | uniq -c | awk '{ print $2, $3 ": " $1 " texts" }'
sort -u "$work/skips" 2>/dev/null
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
