#!/usr/bin/env bash
# tests/arm.sh [TEST…] – unit tests as aarch64 code under qemu-user: compiled by the cross compiler with
# the flags of make, linked with that architecture's libraries, which are downloaded from this
# distribution and unpacked beside BUILD (nothing is installed). Default: the tests of src, cu and npb_mz
# that need no device, except that of the classes, which reserves a terabyte of addresses. Exit 77:
# compiler, emulator or mirror is missing.
# Last line: "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build-arm64} LC_ALL=C
libraries='libhwloc-dev libjansson-dev libgsl-dev libglpk-dev libffi-dev libopenmpi-dev libsuitesparse-dev
 libopenblas-serial-dev libfftw3-dev libcmocka-dev libzmq3-dev libxxhash-dev libgomp1 libc6-dev'
for need in aarch64-linux-gnu-gcc qemu-aarch64 apt-get dpkg-deb; do
    command -v $need >/dev/null || { echo "arm: no $need here"; exit 77; }
done
mkdir -p "$BUILD-system"
here=$(cd "$BUILD-system" && pwd)
sys=$here/sysroot lib=$here/sysroot/usr/lib/aarch64-linux-gnu

fetch() { # an apt of its own, which knows of no package that is installed
    local apt=$here/apt
    mkdir -p "$apt"/{lists/partial,archives/partial} "$sys" && : >"$apt/status"
    set -- apt-get -qq -o Dir::State="$apt" -o Dir::State::status="$apt/status" \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt" -o Dir::Cache::archives="$apt/archives" \
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
        -o Binary::apt-get::APT::Keep-Downloaded-Packages=true \
        -o DPkg::Post-Invoke= -o APT::Update::Post-Invoke=
    "$@" update && "$@" -y --no-install-recommends --download-only install $libraries || return
    for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$sys" || return; done
    rm -rf "$apt"
}
[ -e "$here/fetched" ] || { fetch >"$here/fetch.log" 2>&1 && touch "$here/fetched"; } || {
    echo "arm: no libraries: $(tail -1 "$here/fetch.log")"
    exit 77
}
export PKG_CONFIG_LIBDIR=$lib/openblas-serial/pkgconfig:$lib/pkgconfig:$sys/usr/share/pkgconfig
export PKG_CONFIG_SYSROOT_DIR=$sys QEMU_LD_PREFIX=$sys LD_LIBRARY_PATH=
cc="aarch64-linux-gnu-gcc -isystem $sys/usr/include -isystem $sys/usr/include/aarch64-linux-gnu -L$lib
 -Wl,-rpath-link,$lib:$lib/openblas-serial:$sys/lib/aarch64-linux-gnu"
# Absolute links would lead out of the sysroot.
find "$sys" -xtype l -delete
# The linker scripts of the cross compiler's own C library lead to that.
rm -f "$lib"/lib{c,m,mvec,pthread,dl,rt,bsd}.{so,a} "$lib"/*crt1.o
# Links that update-alternatives would make.
for name in blas lapack; do ln -sf "openblas-serial/lib$name.so.3" "$lib/lib$name.so.3"; done
ln -sf openblas-serial/libopenblas.so.0 "$lib/libopenblas.so.0"

tests=("$@")
[ $# != 0 ] || mapfile -t tests < <(basename -s .c $(ls tests/test_{src,cu,npb_mz}_*.c |
    grep -v -e device -e embed -e donate -e classes))
make -j"$(nproc)" --no-print-directory PROGRAMS=npb_mz CC="$(echo $cc)" MARCH=armv8-a BUILD="$BUILD" \
    "${tests[@]/#/$BUILD/tests/}" >"$here/make.log" 2>&1 || {
    echo "arm: does not build: $(grep -m1 error "$here/make.log")"
    exit 1
}
emulated() { [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; } # the kernel starts them by itself
passed=0 failed=0 skipped=0
for test in "${tests[@]}"; do
    case $test in
    test_cu_open | test_cu_place)
        emulated || { skipped=$((skipped + 1)); echo "  skip   $test: starts itself anew, which needs binfmt_misc"; continue; } ;;
    esac
    if LD_LIBRARY_PATH= qemu-aarch64 -L "$sys" "$BUILD/tests/$test" >"$here/log" 2>&1 || [ $? = 77 ]; then
        passed=$((passed + 1))
        echo "  ok     $test"
    else
        failed=$((failed + 1))
        echo "  FAILED $test"
        grep -vE '^\[ (RUN|      OK)' "$here/log" | tail -10 | sed 's/^/         /'
    fi
done
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
