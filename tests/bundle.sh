#!/usr/bin/env bash
# tests/bundle.sh [FILE.tar.xz] – one file with everything to run on a machine that has only a GPU driver:
# programs, their libraries except the C library's, precompiled kernels, NVRTC for the tests' kernels and CUPTI
# if they are here, tests and their data, and run.sh, which calls tests/bench/gpu.sh. Called by `make bundle`. On a
# machine without xz, python3 -m tarfile -e unpacks it.
#
# ARCHS   architectures of the precompiled kernels ("compute_80,sm_80,sm_90,sm_100,gfx906,gfx90a,gfx942");
#         those without a compiler here are omitted with a message: such devices then need one.
set -eu
export BIN=${BIN:-bin} BUILD=${BUILD:-build}
file=${1:-$BUILD/evenkeel-bundle.tar.xz} most=$((64 << 20))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$work/evenkeel
mkdir -p "$top/bin" "$top/lib/older" "$top/build/tests" "$top/build/bench" "$top/share/evenkeel/code"

# Programs and tests, without debugging symbols, and the libraries that they name. Those of the compiler are
# kept apart: they must not replace newer ones, which drivers may need.
cp "$BIN"/* "$top/bin"
for t in laws boxes cache gpu gpu_copy abi_cuda abi_hip; do cp "$BUILD/tests/test_backends_$t" "$top/build/tests"; done
cp "$BUILD/bench/devices" "$top/build/bench"
cp "$BUILD/bench/libgpu_activity.so" "$top/build/bench" 2>/dev/null || true # where CUPTI is
cp -r "$BUILD/fakegpu" "$top/build"
strip "$top"/bin/* "$top"/build/tests/* "$top"/build/bench/*
ldd "$top"/bin/* "$top"/build/tests/* "$top"/build/bench/* | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u |
    while read -r name path; do
        case $name in
        libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libresolv.so.* | ld-linux*) ;;
        libcuda.so.* | libamdhip64.so.* | libOpenCL.so.*) ;; # the driver's own
        libcupti.so.*) ;;
        libstdc++.so.* | libgcc_s.so.* | libgomp.so.* | libgfortran.so.* | libquadmath.so.* | libz.so.*)
            cp -L "$path" "$top/lib/older/$name" && strip "$top/lib/older/$name" ;;
        *) cp -L "$path" "$top/lib/$name" && strip "$top/lib/$name" 2>/dev/null || true ;;
        esac
    done
cuda=${CUDA_HOME:-/usr/local/cuda}
for library in "$cuda"/lib64/libnvrtc{,-builtins}.so.1[0-9]* "$cuda"/{lib64,extras/CUPTI/lib64}/libcupti.so.1[0-9]; do
    [ ! -e "$library" ] || cp -L "$library" "$top/lib"
done

# Data and scripts.
mkdir -p "$top/tests/bench" "$top/tests/data" "$top/okada_mogi"
cp tests/bench/gpu.sh tests/bench/gpu_cases.sh "$top/tests/bench"
cp -r okada_mogi/examples "$top/okada_mogi"
cp LICENSE README.md "$top"
cat >"$top/run.sh" <<'RUN'
#!/usr/bin/env bash
# Runs everything on this machine's GPUs and writes report/gpu.md; resumes an interrupted run.
cd "$(dirname "$0")" || exit 1

# Of the libraries in lib/older, those that are missing or older here are used.
versions() { # library: of its own symbols
    local own
    case ${1##*/} in
    libstdc++*) own='(GLIBCXX|CXXABI)' ;; libgcc_s*) own=GCC ;; libgomp*) own='G?OMP' ;;
    libgfortran*) own=GFORTRAN ;; libquadmath*) own=QUADMATH ;; *) own=ZLIB ;;
    esac
    grep -aoE "\b${own}_[0-9.]+" "$1" | sort -u
}
for ours in lib/older/*; do
    name=${ours##*/}
    theirs=$(PATH=$PATH:/sbin ldconfig -p 2>/dev/null | awk -v n="$name" -v m="$(uname -m | sed -n s/x86_64/x86-64/p)" '$1 == n && $0 ~ m {print $NF; exit}')
    if [ -e "$theirs" ] && [ -z "$(comm -23 <(versions "$ours") <(versions "$theirs"))" ]; then
        rm -f "lib/$name"
    else
        ln -sf "older/$name" "lib/$name"
    fi
done
export LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} CU_KERNEL_CODE=$PWD/share/evenkeel/code READY=1
exec bash tests/bench/gpu.sh "$@"
RUN
chmod +x "$top/run.sh"

# Precompiled kernels: every program builds its texts once, on device host:0.
runs() { # program, arguments…: its result for so small a case does not matter
    "$BIN/$1" "${@:2}" || [ $? = 1 ]
}
ready() { # architectures
    local tables='--velocity gradient:v0=2000,k=0.5 --node-spacing 800' device='--devices host:0 --layout 0x0+1 --quiet' p
    export CU_KERNEL_CODE_FOR=$1 CU_KERNEL_CODE=$top/share/evenkeel/code CU_KERNEL_CACHE=0
    for p in bt-mz sp-mz lu-mz; do runs $p --class S --steps 1 $device || return; done
    "$BUILD/bench/devices" host:0 || true # made, then the host has no such kernel itself
    runs mogi okada_mogi/examples/campi.json --trials 0:100 $device --out "$work/out" || return
    runs okada okada_mogi/examples/parkfield.json --trials 0:100 $device --out "$work/out" || return
    runs mcsem "$work/few" --mode exact --iterations 1 --target 1000 $device --model-out "$work/out" || return
    runs kirchhoff-tt --velocity lens:v0=2000,kz=0.5,dv=500,x=400,y=400,z=400,sigma=200 --grid 5x5x5:200 --shots 1 $device --out "$work/tt" || return
    runs kirchhoff-mig "$work/data.segy" $tables --grid 1x1x5:50x50x40@1300,1300,800 $device --raw "$work/image"
}
"$BIN/mcsem" --generate tiny --out "$work/few" --quiet
"$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" --quiet
here=
for arch in $(echo "${ARCHS:-compute_80,sm_80,sm_90,sm_100,gfx906,gfx90a,gfx942}" | tr , ' '); do
    if CU_KERNEL_CODE_FOR=$arch CU_KERNEL_CODE=$work/try "$BIN/bt-mz" --class S --steps 1 --devices host:0 --layout 0x0+1 \
        --quiet >"$work/log" 2>&1; then
        here=$here${here:+,}$arch
    else
        echo "no kernels for $arch: $(tail -1 "$work/log" | head -c 200)"
    fi
done
if [ -n "$here" ] && ! (ready "$here") >"$work/log" 2>&1; then
    echo "bundle: kernels for $here: $(tail -3 "$work/log")"
    exit 1
fi

XZ_OPT=-T0 tar -C "$work" -cJf "$file.part" evenkeel && mv "$file.part" "$file"
size=$(wc -c <"$file")
echo "$file: $((size >> 20)) MiB, $(ls "$top/share/evenkeel/code" | wc -l) finished kernels"
[ "$size" -le $most ] || { echo "bundle: more than $((most >> 20)) MiB"; exit 1; }
