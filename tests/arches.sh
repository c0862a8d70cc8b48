#!/usr/bin/env bash
# tests/arches.sh – compiles the sources with the compilers of other machines, warnings as errors: clang and
# gcc for levels of x86-64, an older gcc, and cross compilers for aarch64, riscv64 and ppc64le, which also
# search this machine's headers. Needs no libraries of those machines.
#
# Omits what `make` and `make lint` do already (gcc for the levels that are built, clang for all sources).
# The older gcc and aarch64 parse all sources; riscv64 and ppc64le, to which other sources are the same text
# with the same types, those that depend on the processor (they, or headers that they include, test its
# macros or have long double). Sources over lanes (they include src/lanes.h or test macros of the processor)
# are compiled to code for each level, as are, with -O3, those that have crashed a compiler. A compiler that
# is missing, or has no C library, is reported as skipped.
# Prints what failed and, last, "N passed, N failed[, N skipped]". Environment: CPPFLAGS, WARN,
# PKG_CFLAGS as make sets them; ARCHES=word selects targets whose name contains it.
set -u
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name | compiler | flags | which sources are parsed: all, those that depend on the processor, none
targets='
gcc-avx512f               gcc                        -mavx512f                -
gcc-sapphirerapids        gcc                        -march=sapphirerapids    -
clang-x86-64              clang                      -march=x86-64            -
clang-x86-64-v2           clang                      -march=x86-64-v2         -
clang-x86-64-v3           clang                      -march=x86-64-v3         -
clang-x86-64-v4           clang                      -march=x86-64-v4         -
clang-avx512f             clang                      -mavx512f                -
clang-sapphirerapids      clang                      -march=sapphirerapids    -
gcc-11                    gcc-11                     -march=x86-64-v3         all
gcc-11-x86-64-v4          gcc-11                     -march=x86-64-v4         -
aarch64                   aarch64-linux-gnu-gcc      -march=armv8-a           all
riscv64                   riscv64-linux-gnu-gcc      -march=rv64gc            differ
ppc64le                   powerpc64le-linux-gnu-gcc  -mcpu=power8             differ
'
crashed='cu/moldable/run_fit.c'

common="-std=c11 -fopenmp -ffp-contract=fast -fno-math-errno -Werror ${CPPFLAGS:--I. -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120}
 -DISA_BUILT=\"\" ${WARN:--Wall -Wextra} -Wno-unused-parameter"
mapfile -t sources < <(git ls-files '*.c' | grep -v -e '^[a-z]*/examples/' -e /kernels/ -e ^tests/scale/)

macros='__(AVX|SSE|FMA|ARM|aarch64|x86_64)|immintrin'
includers() { # files: the sources that are or include one of them, directly or not
    local found before=
    found=$(printf '%s\n' "$@")
    while [ "$found" != "$before" ]; do
        before=$found
        found=$( (echo "$found"
            git grep -lE "#include \"($(echo "$found" | paste -sd'|' | sed 's/\./\\./g'))\"" -- '*.h' '*.c') | sort -u)
    done
    echo "$found" | grep '\.c$' | grep -v -e /kernels/ -e ^tests/
}
mapfile -t levelled < <( (includers src/lanes.h; git grep -lE "$macros" -- '*.c' | grep -v -e /kernels/ -e ^tests/) | sort -u)
mapfile -t differ < <(includers $(git grep -lE "$macros|__riscv|__powerpc|BYTE_ORDER|long double" -- '*.c' '*.h'))

headers() { # compiler: where the libraries' headers are
    case $1 in
    *-linux-gnu-gcc)
        echo "${PKG_CFLAGS:-}" | sed 's/-I */-idirafter /g'
        echo "-idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)"
        ;;
    *) echo "${PKG_CFLAGS:-}" ;;
    esac
}
jobs() { # one a line: target, compiler and flags, files
    while read -r name cc flags parse; do
        [[ -n $name && $name == *${ARCHES:-}* ]] || continue
        command -v "$cc" >/dev/null || { echo "$name: no $cc here" >>"$work/skipped"; continue; }
        echo '#include <stdio.h>' | "$cc" -E - >/dev/null 2>&1 ||
            { echo "$name: $cc has no C library here" >>"$work/skipped"; continue; }
        echo "$name" >>"$work/targets"
        local line
        line="$cc $flags $(echo $common $(headers "$cc"))"
        case $parse in
        all) printf '%s\n' "${sources[@]}" ;;
        differ) printf '%s\n' "${differ[@]}" ;;
        esac | xargs -r -n 8 | sed "s#^#$name|$line -fsyntax-only|#"
        printf "$name|$line -o /dev/null -O1 -c|%s\n" "${levelled[@]}"
        printf "$name|$line -o /dev/null -O3 -c|%s\n" $crashed
    done <<<"$targets"
}
compile() { # a job: what the compiler says goes into a file of the target
    IFS='|' read -r name command files <<<"$1"
    local said
    said=$($command $files 2>&1) || echo "$said" | grep -E -m9 'error|warning' |
        sed "s|^|  $name: |" >>"$work/failed.$name"
}
export -f compile
export work
jobs >"$work/jobs"
# Durations differ, so work is handed out a few files at a time.
xargs -d '\n' -P "$(nproc)" -n 6 bash -c 'for job; do compile "$job"; done' _ <"$work/jobs"

passed=0 failed=0 skipped=0
while read -r name; do
    if [ -e "$work/failed.$name" ]; then
        failed=$((failed + 1))
        echo "  FAILED $name"
        head -20 "$work/failed.$name"
    else
        passed=$((passed + 1))
        echo "  ok     $name"
    fi
done <"$work/targets"
[ -e "$work/skipped" ] && skipped=$(wc -l <"$work/skipped") && sed 's/^/  skip   /' "$work/skipped"
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
