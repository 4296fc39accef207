# A bare Debian 12, made once a day from this machine's own apt mirrors. For scripts to source; uses their functions `say`
# and `not_run` and their scratch folder $work. Needs root and mmdebstrap.
# shellcheck shell=bash disable=SC2154

readonly cache=${EMBD_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/embd-test}

# Apt sources of this machine that bring Debian 12; others may need keys that the base image lacks.
debian_sources() {
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if [ -f "$file" ] && grep -Eq '^(deb|Suites:)(.*[[:space:]])bookworm' "$file"; then
      echo "$file"
    fi
  done
}

# Writes the base image's file system to the path given, with this machine's mirrors, proxies and clock settings of apt.
make_base() {
  local options=() sources=() line
  mapfile -t sources < <(debian_sources)
  [ "${#sources[@]}" -gt 0 ] || not_run "no apt source of Debian 12 (bookworm) on this machine"
  while IFS= read -r line; do
    options+=(--aptopt="$line")
  done < <(apt-config dump | grep -E '^Acquire::(https?::(Proxy|Verify|CaInfo)|Check-|Retries)' | grep -v '"";$' || true)
  mmdebstrap --mode=root --variant=apt --include=ca-certificates "${options[@]}" bookworm "$1" "${sources[@]}" \
    > "$work/base.log" 2>&1 || { cat "$work/base.log" >&2; not_run "mmdebstrap made no base image"; }
}

# Puts the path of today's base image into $base; one process makes it, others wait.
find_base() {
  mkdir -p "$cache"
  base=$cache/base-$(date +%Y%m%d).tar
  exec 9> "$cache/base.lock"
  flock 9
  if [ ! -f "$base" ]; then
    say "making the base image"
    rm -f "$cache"/base-*.tar
    make_base "$work/base.tar"
    mv "$work/base.tar" "$base.part"
    mv "$base.part" "$base"
  fi
  exec 9>&-
}
