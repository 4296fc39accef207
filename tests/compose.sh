#!/usr/bin/env bash
# Builds the image and brings up the services of docker/docker-compose.yml, with a Docker daemon of its own.
#
# Needs root and the packages of docker/packages/containers.txt, and the machine's own apt mirrors; no image registry: the base
# image is made by mmdebstrap and kept for a day in the cache folder ($EMBD_TEST_CACHE, or ~/.cache/embd-test).
# Exits with 0 when both services were healthy and the client printed an embedding, 77 where it cannot run here, else 1.
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
export COMPOSE_DOCKER_CLI_BUILD=0 DOCKER_BUILDKIT=0 EMBD_PORT=0
daemon=

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

# What differs on this machine from a plain `docker-compose up`: how a build reaches the apt mirrors.
write_override() {
  local build='build: { network: host, args: [http_proxy, https_proxy, no_proxy, HTTP_PROXY, HTTPS_PROXY, NO_PROXY] }'
  printf 'services:\n  server: { %s }\n  client: { %s }\n' "$build" "$build" > "$work/this-machine.yml"
}

health_of() {
  docker inspect -f '{{.State.Status}}/{{.State.Health.Status}}' "$(compose ps -q "$1")" 2> /dev/null || echo missing
}

await_healthy() {
  local end=$((SECONDS + healthy_seconds)) server client
  while [ "$SECONDS" -lt "$end" ]; do
    server=$(health_of server) client=$(health_of client)
    [ "$server $client" = "running/healthy running/healthy" ] && return
    sleep 0.5
  done
  compose logs >&2
  fail "not healthy within $healthy_seconds s: server is $server, client is $client"
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

find_base
write_override
start_daemon
docker import -c 'CMD ["bash"]' "$base" debian:bookworm-slim > /dev/null
say "building the image"
compose build > "$work/build.log" 2>&1 || { tail -n 60 "$work/build.log" >&2; fail "the image does not build"; }
say "starting the services"
compose up -d > "$work/up.log" 2>&1 || { cat "$work/up.log" >&2; compose logs >&2; fail "the services do not start"; }
await_healthy
compose ps
check_client_output
check_server
say "both services were healthy, and the client printed the embedding above"
