#!/usr/bin/env bash
# Builds the image and brings up the services of docker/docker-compose.yml, with a Docker daemon of its own.
#
# Needs root and the packages of docker/packages/containers.txt, and the machine's own apt mirrors; no image registry: the base
# image is made by mmdebstrap and kept for a day in the cache folder ($EMBD_TEST_CACHE, or ~/.cache/embd-test).
# Where ccache shares its objects in a folder (CCACHE_REMOTE_STORAGE=file:FOLDER), the image's build takes them from there.
# Exits with 0 when both services were healthy, the client printed an embedding, and no call failed while two replicas were
# restarted; 77 where it cannot run here, else 1.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly healthy_seconds=180

say() { echo "compose: $*"; }
fail() { echo "compose: FAILED: $*" >&2; exit 1; }
not_run() { echo "compose: NOT RUN: $*" >&2; exit 77; }

[ "$(id -u)" -eq 0 ] || not_run "needs root, to run a Docker daemon"
for program in docker dockerd docker-compose mmdebstrap; do
  command -v "$program" > /dev/null || not_run "$program is not installed"
done

work=$(mktemp -d)
. tests/base_image.sh
export DOCKER_HOST=unix://$work/docker.sock
# The daemon builds: no command-line plugin is needed.
export COMPOSE_DOCKER_CLI_BUILD=0 DOCKER_BUILDKIT=0 EMBD_PORT=0 EMBD_METRICS_PORT=0 EMBD_PROXY_PORT=0
daemon=
cache_server=

compose() {
  docker-compose --ansi never -p embdtest -f docker/docker-compose.yml -f "$work/this-machine.yml" "$@"
}

clean_up() {
  local status=$?
  trap - EXIT
  if [ -n "$daemon" ]; then
    compose down -v --remove-orphans > "$work/down.log" 2>&1 || cat "$work/down.log" >&2
    kill "$daemon" 2> /dev/null || true
    wait "$daemon" 2> /dev/null || true
  fi
  [ -z "$cache_server" ] || kill "$cache_server" 2> /dev/null || true
  # The daemon leaves its own network namespace mounted.
  awk -v folder="$work/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount || true
  rm -rf "$work" || true
  exit "$status"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# No bridge and no packet filter rules of the host: builds use the host's network, the services reach each other over
# compose's own network, which goes with it.
start_daemon() {
  dockerd --data-root "$work/root" --exec-root "$work/exec" --pidfile "$work/dockerd.pid" -H "$DOCKER_HOST" \
    --bridge=none --iptables=false --ip-forward=false > "$work/dockerd.log" 2>&1 &
  daemon=$!
  local _
  for _ in $(seq 300); do
    docker version > /dev/null 2>&1 && return
    kill -0 "$daemon" 2> /dev/null || break
    sleep 0.1
  done
  tail -n 20 "$work/dockerd.log" >&2
  not_run "the Docker daemon does not start here"
}

# Serves the folder of compiled objects to builds, which use the host's network, and puts its address into $objects.
serve_objects() {
  objects=
  local folder=${CCACHE_REMOTE_STORAGE:-} _
  [ "${folder#file:/}" != "$folder" ] && [ -d "${folder#file:}" ] || return 0
  python3 -u -m http.server --bind 127.0.0.1 --directory "${folder#file:}" 0 > "$work/objects.log" 2> /dev/null &
  cache_server=$!
  for _ in $(seq 100); do
    objects=$(sed -n 's|^Serving HTTP on .* (\(http://[^)]*\)/) .*|\1|p' "$work/objects.log")
    [ -z "$objects" ] || return 0
    sleep 0.1
  done
  say "the folder of compiled objects cannot be served; the image is built without it"
}

# What differs on this machine from a plain `docker-compose up`: how a build reaches the apt mirrors and compiled objects.
write_override() {
  local build='build: { network: host, args: [http_proxy, https_proxy, no_proxy, HTTP_PROXY, HTTPS_PROXY, NO_PROXY'
  build+="${objects:+, \"CCACHE_REMOTE_STORAGE=$objects|read-only=true\"}] }"
  local service
  {
    echo services:
    for service in server client replica1 replica2 haproxy balanced-client; do printf '  %s: { %s }\n' "$service" "$build"; done
  } > "$work/this-machine.yml"
}

health_of() {
  docker inspect -f '{{.State.Status}}/{{.State.Health.Status}}' "$(compose ps -q "$1")" 2> /dev/null || echo missing
}

# await_healthy SERVICE…
await_healthy() {
  local end=$((SECONDS + healthy_seconds)) service states
  while [ "$SECONDS" -lt "$end" ]; do
    states=
    for service in "$@"; do states+=" $(health_of "$service")"; done
    [ "${states// running\/healthy/}" = "" ] && return
    sleep 0.5
  done
  compose logs >&2
  fail "not healthy within $healthy_seconds s: $* are$states"
}

# What embdctl prints for three ids of a model of 64 dimensions: the shape, and 192 numbers.
check_client_output() {
  local log=$work/client.log count
  docker logs "$(compose ps -q client)" > "$log" 2>&1 || fail "no log of the client"
  cat "$log"
  grep -qF '(1, 3, 64)' "$log" || fail "the client printed no embedding of shape (1, 3, 64)"
  count=$(grep -oE -- '-?[0-9]\.[0-9]+(e[-+][0-9]+)?' "$log" | wc -l)
  [ "$count" -eq 192 ] || fail "the client printed $count numbers, not 192"
}

# The server runs as nobody in particular, and SIGTERM ends it with 0.
check_server() {
  local container user code
  container=$(compose ps -q server)
  user=$(docker exec "$container" id -u)
  [ "$user" != 0 ] || fail "the server runs as root"
  compose stop server > /dev/null 2>&1
  code=$(docker inspect -f '{{.State.ExitCode}}' "$container")
  [ "$code" = 0 ] || { docker logs --tail 20 "$container" >&2; fail "the server ended with $code after SIGTERM"; }
}

# up SERVICE…: starts services and those that they need; without a name, all that need no profile.
up() {
  compose up -d "$@" > "$work/up.log" 2>&1 || { cat "$work/up.log" >&2; compose logs >&2; fail "the services do not start"; }
}

in_client() { docker exec "$1" sh -ec "$2"; }

# The servers that HAProxy sees ready are those given, such as "replica1 replica2".
await_ready_behind_proxy() {
  local end=$((SECONDS + healthy_seconds)) ready='' proxy
  proxy=$(compose ps -q haproxy)
  while [ "$SECONDS" -lt "$end" ]; do
    ready=$(docker exec "$proxy" bash -c '
      exec 3<> /dev/tcp/127.0.0.1/8404 && printf "GET /metrics?scope=server HTTP/1.0\r\n\r\n" >&3 && cat <&3' 2> /dev/null |
      sed -n 's/^haproxy_server_status{.*server="\(replica.\)",state="UP"} 1$/\1/p' | sort | xargs)
    [ "$ready" = "$1" ] && return
    sleep 0.2
  done
  compose logs haproxy >&2
  fail "HAProxy sees \"$ready\" ready, not \"$1\""
}

# Both replicas, one after the other, end and start again.
roll() {
  local replica other
  for replica in replica1 replica2; do
    [ "$replica" = replica1 ] && other=replica2 || other=replica1
    sleep 1
    compose stop "$replica" > /dev/null 2>&1
    await_ready_behind_proxy "$other"
    sleep 1
    compose start "$replica" > /dev/null 2>&1
    await_healthy "$replica"
    await_ready_behind_proxy "replica1 replica2"
  done
  sleep 1
}

# Eight callers that try each call once go through HAProxy, and commands of their own to a name with two addresses, by
# which the client library balances and tries again.
check_rolling_restart() {
  local client calls failures
  client=$(compose ps -q balanced-client)
  in_client "$client" '
    embdctl --server haproxy:8001 --output json bench demo-learned --concurrency 8 --duration 1000 > /tmp/bench 2>&1 &
    echo $! > /tmp/bench.pid'
  docker exec -d "$client" sh -c '
    while [ ! -e /tmp/stop ]; do
      embdctl embed demo-learned --ids "1 2 3" > /dev/null 2>> /tmp/errors || echo failed >> /tmp/failures
      echo call >> /tmp/calls
    done'
  roll
  # shellcheck disable=SC2016  # expanded in the container
  in_client "$client" '
    touch /tmp/stop
    bench=$(cat /tmp/bench.pid)
    kill -INT "$bench"
    while kill -0 "$bench" 2> /dev/null; do sleep 0.1; done'
  in_client "$client" 'cat /tmp/bench' > "$work/bench.json"
  grep -E '"(calls|failed_calls)"' "$work/bench.json" || { cat "$work/bench.json" >&2; fail "no report of the calls through HAProxy"; }
  grep -q '"failed_calls": 0,' "$work/bench.json" || { cat "$work/bench.json" >&2; fail "calls through HAProxy failed"; }
  calls=$(in_client "$client" 'wc -l < /tmp/calls')
  failures=$(in_client "$client" 'cat /tmp/failures 2> /dev/null | wc -l')
  say "$calls calls by the name of both, $failures failed"
  [ "$failures" -eq 0 ] || { in_client "$client" 'cat /tmp/errors' >&2; fail "calls by the name of both failed"; }
  [ "$calls" -gt 10 ] || fail "too few calls to show anything"
}

find_base
serve_objects
write_override
start_daemon
docker import -c 'CMD ["bash"]' "$base" debian:bookworm-slim > /dev/null
say "building the images"
compose build server haproxy > "$work/build.log" 2>&1 || { tail -n 60 "$work/build.log" >&2; fail "an image does not build"; }
say "starting the services"
up
await_healthy server client
compose ps
check_client_output
check_server
say "both services were healthy, and the client printed the embedding above"
say "starting two replicas"
export COMPOSE_PROFILES=replicas,roundrobin
up haproxy balanced-client
await_healthy replica1 replica2 balanced-client
await_ready_behind_proxy "replica1 replica2"
check_rolling_restart
say "both replicas were restarted under load, and no call failed"
