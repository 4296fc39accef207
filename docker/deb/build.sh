#!/usr/bin/env bash
# Builds the Debian packages of a finished build: docker/deb/build.sh BUILD_FOLDER OUTPUT_FOLDER
#
# Needs the programs, libraries and man pages' sources only: compiles nothing. Needs docker/packages/package.txt.
set -euo pipefail
[ $# -eq 2 ] || { sed -n 's/^# Builds/Usage: builds/p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
EMBD_BUILD=$(cd "$1" && pwd)
export EMBD_BUILD
rm -rf "$2"
mkdir -p "$2/tree"
output=$(cd "$2" && pwd)

# The same sources give the same packages, whenever they are built.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$EMBD_BUILD/CMakeCache.txt")

cp -r "$here/debian" "$here/../../CHANGELOG.md" "$output/tree"
cat >"$output/tree/debian/changelog" <<CHANGELOG
embd ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' "$here/debian/control")  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/man/make_pages.py" --binaries "$EMBD_BUILD/bin" --out "$output/tree/man"

cd "$output/tree"
dpkg-buildpackage --build=binary --no-sign >"$output/log" 2>&1 || { tail -n 40 "$output/log" >&2; exit 1; }
rm -rf "$output/tree"
ls "$output"/*.deb
