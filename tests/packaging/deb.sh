#!/usr/bin/env bash
# tests/packaging/deb.sh – `make deb`: Debian packages of what is committed, made in a folder of their own
# with the distribution's default flags and looked at by lintian, whose errors and warnings are ours.
# They end in $BUILD/deb. Environment: BUILD, JOBS. Needs debhelper and dpkg-dev; lintian if it is there.
set -u
cd "$(dirname "$0")/../.." || exit 1
for need in dh dpkg-buildpackage; do
    command -v $need >/dev/null || { echo "make deb: no $need here: apt-get install debhelper dpkg-dev" >&2; exit 3; }
done
mkdir -p "${BUILD:-build}/deb" && out=$(cd "${BUILD:-build}/deb" && pwd) || exit 3
version=$(sed -n 's/^.define EK_VERSION "\(.*\)"/\1/p' src/version.h) so=${version%%.*}
date=$(git log -1 --format=%cD) || { echo 'make deb: packages what is committed: this is no git tree' >&2; exit 3; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && tree=$work/evenkeel-$version && mkdir "$tree" &&
    git archive HEAD | tar -x -C "$tree" && mv "$tree/tests/packaging/debian" "$tree" && cd "$tree" || exit 3

unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that calls this
needed=$(sh .ci/deps names | paste -sd, | sed 's/,/, /g')
sed -i "s/@needed@/$needed/; s/@so@/$so/" debian/control
mv debian/libevenkeel.install "debian/libevenkeel$so.install"
sed '1,4d; s/^$/./; s/^/ /' LICENSE >license # without its head, which the format names
sed -i -e '/@license@/{r license' -e 'd}' debian/copyright && rm license
printf 'evenkeel (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n' "$version" "$version" \
    'The Evenkeel developers <evenkeel@example.org>' "$date" >debian/changelog

echo "making packages of $version; the log: $out/log"
dpkg-buildpackage -b -us -uc -tc -j"${JOBS:-$(nproc)}" >"$out/log" 2>&1 || { tail -20 "$out/log" >&2; exit 1; }
! grep 'warning:.*\[-W' "$out/log" || { echo 'make deb: warnings under the distribution'"'"'s flags' >&2; exit 1; }
rm -f "$out"/*.deb && mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out" && ls -sh "$out"/*.deb
! command -v lintian >/dev/null || lintian --fail-on error,warning "$out"/*.changes
