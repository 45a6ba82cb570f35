#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD VERSION: Debian packages of the last commit (of the files here, where git is not) in BUILD/deb, by packaging/debian. They are
# for the distribution that this runs in. The tests are run with DEB_BUILD_OPTIONS=, and left out without it; lintian looks at the packages
# where it is installed, and its errors count. DEBFULLNAME and DEBEMAIL name another maintainer.
set -eu
build=$1 version=$2
cd "$(dirname "$0")/.."
work=$build/deb tree=$build/deb/carom-$version

rm -rf "$work"
mkdir -p "$tree"
if git rev-parse --verify -q HEAD >/dev/null 2>&1; then
    git archive HEAD | tar -x -C "$tree"
else
    tar -c --exclude='./build*' --exclude="./$build" . | tar -x -C "$tree"
fi
cp -r "$tree/packaging/debian" "$tree/debian"
# shellcheck source=/dev/null
distribution=$(. /etc/os-release && echo "$ID$VERSION_ID")
printf 'carom (%s-1~%s) unstable; urgency=medium\n\n  * See /usr/share/doc/carom/changelog.gz.\n\n -- %s <%s>  %s\n' "$version" "$distribution" \
    "${DEBFULLNAME:-The carom authors}" "${DEBEMAIL:-carom@packages.invalid}" "$(date -R -r "$tree/CHANGELOG.md")" >"$tree/debian/changelog"

export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-nocheck} parallel=${JOBS:-1}" DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES-nocheck}"
(cd "$tree" && dpkg-buildpackage -b -us -uc) >"$work/log" 2>&1 || {
    tail -n 40 "$work/log"
    echo "the Debian packages were not built: $work/log has it all" >&2
    exit 1
}
rm -rf "$tree"
ls -sh "$work"/*.deb
if command -v lintian >/dev/null; then
    lintian --fail-on error "$work"/*.changes
else
    echo "lintian is not installed: it has not looked at these packages"
fi
