#!/usr/bin/env bash
# Installs the packages of build/package in a bare Debian 12, runs what they bring, and purges them.
#
# Needs root, the packages of docker/packages/package.txt and the machine's own apt mirrors. Exits with 0 when all holds, 77
# where it cannot run here, else 1.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly packages=build/package
# Of `systemd-analyze security`, in tenths: 0 is the tightest, 100 no protection at all.
readonly largest_exposure=25

say() { echo "package: $*"; }
fail() { echo "package: FAILED: $*" >&2; exit 1; }
not_run() { echo "package: NOT RUN: $*" >&2; exit 77; }

[ "$(id -u)" -eq 0 ] || not_run "needs root, to install packages in a system of its own"
for program in ip lintian mmdebstrap unshare; do
  command -v "$program" > /dev/null || not_run "$program is not installed"
done
ls "$packages"/embd_*.deb > /dev/null 2>&1 || fail "no packages in $packages: run ./dev package"

work=$(mktemp -d)
root=$work/root
. tests/base_image.sh

clean_up() {
  local status=$?
  trap - EXIT
  umount "$root/proc" 2> /dev/null || true
  rm -rf --one-file-system "$work" || true
  exit "$status"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# Runs a command in the system; what it prints is shown where it fails.
inside() {
  env -u LD_PRELOAD LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive MANWIDTH=100 chroot "$root" "$@" > "$work/out" 2>&1 ||
    { tail -n 40 "$work/out" >&2; fail "in the fresh system: $*"; }
}

# Installs packages by name, and those of $packages by pattern.
install() {
  # shellcheck disable=SC2016  # expanded by the inner shell
  inside sh -c 'apt-get install -y -q --no-install-recommends $*' install "$@"
}

expect() { grep -qF -- "$1" "$work/out" || { cat "$work/out" >&2; fail "no \"$1\" in what $2 prints"; }; }

check_lint() {
  lintian --allow-root --fail-on error "$packages"/*.deb > "$work/lintian" 2>&1 ||
    { cat "$work/lintian" >&2; fail "lintian finds errors"; }
}

make_system() {
  find_base
  mkdir "$root"
  tar -xf "$base" -C "$root"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  mount -t proc proc "$root/proc"
  cp "$packages"/*.deb "$root/tmp/"
  # Nothing is started while packages are installed; the server is started below, without systemd.
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  inside apt-get update -q
}

check_pages_and_programs() {
  local page
  inside embdctl --version
  inside embd --version
  inside embd --config /etc/embd/embd.yaml --check-config
  expect "configuration is valid" "embd --check-config"
  inside bash -c '. /usr/share/bash-completion/completions/embdctl && complete -p embdctl'
  for page in embd embdctl embd.yaml; do
    inside man -P cat "$page"
    expect "NAME" "man $page"
  done
  inside man -P cat embdctl
  expect "--wait" "man embdctl"
}

check_unit() {
  inside systemd-analyze verify /lib/systemd/system/embd.service
  [ ! -s "$work/out" ] || { cat "$work/out" >&2; fail "systemd-analyze verify has something to say"; }
  inside systemd-analyze security --offline=true --threshold="$largest_exposure" embd.service
  [ -L "$root/etc/systemd/system/multi-user.target.wants/embd.service" ] || fail "the unit is not enabled"
}

# With the configuration as installed, as a user without rights, on a loopback interface of its own.
check_server() {
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --net bash -ec '
    ip link set lo up
    chroot --userspec=65534:65534 "$1" /usr/bin/embd --config /etc/embd/embd.yaml > "$2/server.log" 2>&1 &
    chroot "$1" /usr/bin/embdctl health --wait 30
    chroot "$1" /usr/bin/embdctl embed demo-learned --ids "1 2 3"
    kill %1
    wait %1
  ' check-server "$root" "$work" > "$work/out" 2>&1 ||
    { cat "$work/out" "$work/server.log" >&2; fail "the server does not start, serve and end"; }
  expect "SERVING" "embdctl health"
  expect "(1, 3, 64)" "embdctl embed"
}

# A program of somebody else's finds the library where the package put it.
check_library() {
  install g++ cmake make '/tmp/libembd-dev_*.deb'
  cp -r tests/install/consumer "$root/tmp/consumer"
  inside cmake -S /tmp/consumer -B /tmp/consumer/build
  inside cmake --build /tmp/consumer/build
  inside /tmp/consumer/build/consumer
}

check_purge() {
  inside apt-get purge -y -q embd embdctl libembd-dev
  # shellcheck disable=SC2016  # dpkg-query's own marks
  inside sh -c 'rm -rf /tmp/*; find / -xdev -name "*embd*" -not -path "/proc/*"; dpkg-query -W -f "\${Package}\n" | grep embd || true'
  [ ! -s "$work/out" ] || { cat "$work/out" >&2; fail "something is left after the purge"; }
}

say "lintian"
check_lint
say "making a bare system"
make_system
say "installing embd and embdctl"
install systemd man-db '/tmp/embd_*.deb' '/tmp/embdctl_*.deb'
check_pages_and_programs
check_unit
say "starting the server"
check_server
say "building a program against libembd-dev"
check_library
say "purging"
check_purge
say "the packages install, work and leave nothing behind"
