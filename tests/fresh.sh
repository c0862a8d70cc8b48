#!/usr/bin/env bash
# tests/fresh.sh [SUITE [PART…]] – the README's two commands on a bare system: a minimal root of that
# Debian (bookworm, trixie, sid) or Ubuntu (noble) with only git and make, made by mmdebstrap and deleted
# afterwards.
# Needs root, mmdebstrap and the distribution's mirror; changes nothing outside a folder of its own
# (FRESH=FOLDER keeps it and reuses an existing root).
#
# Parts (all): demo     make demo as root, which installs the packages
#              check    make check there
#              user     an ordinary user without sudo, a path with a blank, a home that is not writable
#                       and a German locale: make demo
#              blas     the threaded OpenBLAS beside the serial one: programs with CHOLMOD still link, and
#                       mcsem's model keeps its bits
# Prints a line for each and, last, "N passed, N failed". Exit 77: cannot run here.
set -u
cd "$(dirname "$0")/.." || exit 1
suite=${1:-bookworm}
shift
[ $# = 0 ] && set -- demo check user blas
[ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null || {
    echo 'fresh: needs root and mmdebstrap'
    exit 77
}
folder=${FRESH:-$(mktemp -d)}
root=$folder/$suite
[ -n "${FRESH:-}" ] || trap 'rm -rf --one-file-system "$folder"' EXIT
mkdir -p "$folder"
sources=()
case $suite in noble) sources=("deb [trusted=yes] http://archive.ubuntu.com/ubuntu $suite main universe") ;; esac
[ -d "$root/usr" ] || mmdebstrap --variant=minbase --include=apt,git,make "$suite" "$root" "${sources[@]}" >"$folder/log" 2>&1 || {
    echo "fresh: no root of $suite: $(tail -1 "$folder/log")"
    exit 77
}
rm -rf "$root/src" && git clone -q --no-hardlinks . "$root/src" && mkdir -p "$root/src" || exit 1

inside() { # command in the root, with processes and mounts of its own
    unshare --mount --pid --fork --kill-child bash -c '
        mount --bind /dev "$1/dev" && mount --bind /sys "$1/sys" && mount -t proc proc "$1/proc" &&
        mount -t tmpfs tmpfs "$1/tmp" && cp /etc/resolv.conf "$1/etc/" &&
        exec chroot "$1" /bin/bash -c "$2"' - "$root" "$1"
}
passed=0 failed=0
part() { # name, command: fails on a compiler's warning, too (packages warn of other things)
    local start=$SECONDS rc
    inside "$2" >"$folder/$1.log" 2>&1 </dev/null
    rc=$?
    if [ $rc = 0 ] && ! grep -q 'warning:.*\[-W' "$folder/$1.log"; then
        passed=$((passed + 1))
        echo "  ok     $suite $1: $(tail -1 "$folder/$1.log") ($((SECONDS - start)) s)"
    else
        failed=$((failed + 1))
        echo "  FAILED $suite $1 (exit $rc)"
        (grep -m20 -e 'warning:.*\[-W' -e FAILED "$folder/$1.log"; tail -15 "$folder/$1.log") | sed 's/^/         /'
    fi
}
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset CC CU_LAYOUT CU_DEVICES XDG_CACHE_HOME MAKEFLAGS
jobs=${JOBS:+-j$JOBS}
for name; do
    case $name in
    demo) part demo "cd /src && make $jobs demo" ;;
    check) part check "cd /src && make $jobs check" ;;
    user)
        part user 'set -e
            id somebody >/dev/null 2>&1 || useradd --create-home somebody
            rm -rf "/srv/a tree" && cp -r /src "/srv/a tree" && chown -R somebody "/srv/a tree"
            chown root /home/somebody && chmod 555 /home/somebody
            cd "/srv/a tree" && exec setpriv --reuid somebody --clear-groups --inh-caps=-all \
                env HOME=/home/somebody LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 make '"$jobs"' demo'
        ;;
    blas)
        part blas 'set -e
            cd /src
            bin/mcsem --generate small --out /tmp/survey.csv
            model() { bin/mcsem /tmp/survey.csv --iterations 3 --target 9 --layout 1x1 --quiet --model-out "$1"; }
            model /tmp/serial.csv
            DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends install libopenblas0-pthread
            readlink -f /usr/lib/*/libblas.so.3 | grep pthread
            rm bin/mcsem && make '"$jobs"' bin/mcsem
            model /tmp/threaded.csv
            cmp /tmp/serial.csv /tmp/threaded.csv && echo "the same bits"'
        ;;
    *) echo "fresh: no part '$name': demo, check, user, blas" && exit 2 ;;
    esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
