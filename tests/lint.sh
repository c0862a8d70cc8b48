#!/usr/bin/env bash
# tests/lint.sh – checks that a reader should not have to make: formatting, layering, files in the
# top level, forbidden names, warnings of gcc and of the newest clang (COMPILERS=clang: of that alone). Prints
# each finding and exits 1 if there is any.
set -u
export LC_ALL=C.UTF-8
found=0
report() { # heading, findings
    [ -z "$2" ] && return
    echo "lint: $1"
    echo "$2" | sed 's/^/  /'
    found=1
}
mapfile -t sources < <(git ls-files '*.c' '*.h')

if command -v clang-format >/dev/null; then
    report 'not formatted as .clang-format says (make format)' \
        "$(clang-format --dry-run -Werror "${sources[@]}" 2>&1 | grep -oE '^[^:]+:[0-9]+' | sort -u | head -20)"
else
    echo 'lint: clang-format is not installed; formatting not checked'
fi

# A folder includes itself and what is below it; programs see of backends/ only backend.h.
may_include() { # folder -> regular expression of allowed first path components
    case $1 in
    src) echo 'src' ;;
    backends) echo 'src|backends' ;;
    cu) echo 'src|backends|cu' ;;
    tests) echo '.*' ;;
    *) echo "src|backends/backend\.h|cu|$1" ;;
    esac
}
layers=$(for folder in $(printf '%s\n' "${sources[@]%%/*}" | sort -u); do
    grep -nE '^#include "' $(git ls-files "$folder/*.c" "$folder/*.h") |
        grep -vE "#include \"($(may_include "$folder"))(/|\")"
done)
report 'includes that violate the layering (src < backends < cu < programs)' "$layers"
report 'back ends that include one another' "$(for f in $(git ls-files 'backends/*.[ch]'); do
    own=$(basename "$f" | sed 's/[_.].*//')
    case $own in backend | binding | cache) continue ;; esac
    grep -nE '#include "backends/(opencl|cuda|hip|host)' "$f" | grep -v "backends/$own" | sed "s|^|$f:|"
done)"
# cu/ consists of rooms: each includes itself and the rooms before it. `make lint` draws the graph.
rooms='rank unit sched team farm sim moldable bench'
edges=$(git ls-files 'cu/*/*.[ch]' | xargs grep -HoE '^#include "cu/[a-z]+/' | sed -E 's|^cu/([a-z]+)/.*"cu/([a-z]+)/|\1 \2|' |
    awk '$1 != $2' | sort | uniq -c)
echo 'lint: rooms of cu/ (includes of each room below)'
for room in $rooms; do
    printf '  %-9s %s\n' "$room" "$(awk -v r="$room" '$2 == r {printf "%s (%s) ", $3, $1}' <<<"$edges")"
done
report 'rooms of cu/ that include upwards, or are not listed' "$(awk -v list="$rooms" '
    BEGIN { n = split(list, name); for (i = 1; i <= n; i++) at[name[i]] = i }
    !at[$2] || !at[$3] || at[$3] > at[$2] { print $2 " includes " $3 }' <<<"$edges" | grep -v '^ includes *$')"
report 'programs and tools in rooms' "$(git ls-files 'cu/*/main_*')"
# Plug-ins are named after what they are, headers after the .c file that they belong to.
report 'two files of one name' "$(git ls-files 'src/*.[ch]' 'backends/*.[ch]' 'cu/*.[ch]' | grep -vE '/(policy|method)/' |
    sed 's|.*/||' | sort | uniq -d)"
programs=$(git ls-files '*/main_*.c' | grep -vE '/.*/' | cut -d/ -f1 | sort -u | paste -sd'|')
report 'top-level entries beside the agreed ones' "$(git ls-files -co --exclude-standard | cut -d/ -f1 | sort -u |
    grep -vxE "src|backends|cu|$programs|tests|Makefile|README.md|LICENSE|\.(ci|clang-format|editorconfig|gitignore)")"
report 'headings in comments that clang-format broke (make them shorter)' "$(grep -nE '^ \* ?-{5,}' "${sources[@]}" | cut -c1-90)"
report 'tables in comments that clang-format ran together (indent them by three blanks)' \
    "$(grep -nE '^ \* [^ ].*[^ ] {3,}[^ ]' "${sources[@]}" | cut -c1-90)"
# Only unpublished commits: history is not rewritten.
report 'commits whose subject is longer than 72 characters' \
    "$(git log --format=%s '@{upstream}..HEAD' 2>/dev/null | awk 'length > 72' | cut -c1-90)"
report 'names that say nothing' "$(git ls-files | grep -iE '(^|[/_])(utils?|common|misc|helpers?|manager)(\.|_|/|$)')"
report 'struct typedefs' "$(grep -nE '^typedef (struct|union|enum)' "${sources[@]}")"
report 'files over 800 lines' "$(wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 800 {print $2 ": " $1}')"
report 'functions over 80 lines' "$(awk 'FNR==1{s=0} /^\{/{s=FNR} /^\}/{if(s&&FNR-s>80)print FILENAME":"s": "FNR-s; s=0}' "${sources[@]}")"
report 'lines over 100 columns' "$(grep -nE '^.{101,}' "${sources[@]}" | cut -c1-90)"
# src/status.c defines abort() for programs, to tell libraries that give up from faults.
report 'exit() in a library' "$(grep -nE '\b(exit|abort)\(' $(git ls-files 'src/*.c' 'backends/*.c' 'cu/*.c' | grep -v /main_) |
    grep -vE 'void abort\(void\)|^[^:]*:[0-9]+:(/| )\*')"
report 'files without "path – purpose" in the first line' \
    "$(awk 'FNR == 1 && index($0, "/* " FILENAME " – ") == 0 { print FILENAME } { nextfile }' "${sources[@]}")"
report 'files that call one another in a circle (make builds them)' "$(
    for folder in $(git ls-files '*/*.c' | cut -d/ -f1 | grep -v tests | sort -u); do
        find "${BUILD:-build}/$folder" -name '*.o' 2>/dev/null
    done | xargs -r nm -AP | awk '
        { sub(/:$/, "", $1) }
        $3 == "U" { uses[$1 " " $2] }
        $3 ~ /[A-TV-Z]/ { home[$2] = $1 }
        END { for (use in uses) { split(use, of); if (of[2] in home && home[of[2]] != of[1]) print of[1], home[of[2]] } }' |
        tsort 2>&1 >/dev/null | grep '\.o$')"
# Tests link the archives of all programs: of two symbols with one name the linker would silently take
# the first.
report 'symbols that two archives define (make builds them)' "$(for a in "${BUILD:-build}"/lib*.a; do
    [ -e "$a" ] && nm "$a" 2>/dev/null | awk '$2 ~ /[TDBR]/ {print $3}' | sort -u
done | sort | uniq -d)"
# Every function of an installed header begins with the file or folder that has it.
headers=$(MAKEFLAGS= make -s --no-print-directory -f - print <<<$'include Makefile\nprint:\n\t@echo $(headers)')
report 'unprefixed names in installed headers' "$(for h in $headers; do
    name=$(basename "$h" .h) folder=${h%%/*}
    sed -E '/^#|^ \*|^\/\*/d' "$h" | grep -oE '^[a-z][a-z_ ]*[ *]([a-z_]+)\(' | sed -E 's/.*[ *]([a-z_]+)\($/\1/' |
        grep -vE "^(ek|$folder|$name)_" | sed "s|^|$h: |"
done)"
# Programs as they are built.
report '--help wider than 80 columns' "$(for p in "${BIN:-bin}"/*; do
    [ -x "$p" ] && "$p" --help all | awk -v p="$p" '{ gsub(/[\200-\277]/, ""); if (length > 80) print p ": " $0 }'
done)"
report 'options without a word of help' "$(for p in "${BIN:-bin}"/*; do
    [ -x "$p" ] && "$p" --help all | awk -v p="$p" '/^  --/ && NF < 2 { print p ": " $0 }'
done)"
report 'unfinished work' "$(grep -nE '\b(TODO|FIXME|XXX)\b' "${sources[@]}")"

# Both compilers, all warnings, as errors. tests/scale is for SimGrid's MPI, whose compiler `make scale`
# calls with the same warnings.
flags="-I. -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 -std=c11 -fopenmp
 -Wall -Wextra -Wno-psabi -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(pkg-config --cflags hwloc jansson libffi ompi-c openblas)"
# The newest clang may have no header of OpenMP: gcc's then, without an attribute's arguments that some clangs
# refuse. It warns of the same at any optimization.
clang=$(compgen -c clang- | grep -xE 'clang-[0-9]+' | sort -t- -k2 -n | tail -1)
header=$(mktemp -d)
trap 'rm -rf "$header"' EXIT
sed 's/__malloc__ ([^)]*)/__malloc__/' "$(gcc -print-file-name=include/omp.h)" >"$header/omp.h"
clang="${clang:-clang} -fsyntax-only -idirafter $header"
# It starts in five times the time that it takes to read a file, so one process reads many, which only the
# command behind the driver does.
for_many() { # compiler, …: its command, without a file
    local command
    command=$("$@" -### -x c /dev/null 2>&1 | tail -1)
    echo "${command%\"/dev/null\"*}"
}
warnings_in() { # which files, for grep; further options
    git ls-files '*.c' | grep -v -e '/kernels/' -e '^tests/scale/' -e '^[a-z]*/examples/' | grep $1 |
        xargs -P "$(nproc)" -n $files sh -c "$command ${2:-} \"\$@\" 2>&1 || echo \"error: exit \$?: \$*\"" _
}
for cc in 'gcc -O1 -c' "$clang"; do
    [[ $cc == *${COMPILERS:-}* ]] || continue
    command -v ${cc%% *} >/dev/null || { echo "lint: no ${cc%% *} here; its warnings not checked"; continue; }
    files=1 command="$(echo $cc $flags) -o /dev/null"
    [[ $cc == clang* ]] && files=40 command=$(for_many $cc $flags)
    report "warnings of ${cc%% *}" "$( (warnings_in '-v ^tests/'; warnings_in ^tests/ -Wno-unused-parameter) |
        grep -E 'warning:|error:' | sort -u | head -20)"
done
[ $found = 0 ] && echo 'lint: clean'
exit $found
