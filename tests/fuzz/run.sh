#!/usr/bin/env bash
# run.sh PROGRAMS NAME SECONDS: fuzzes from the seeds of the tree and what earlier runs have found, and prints a line.
#
# PROGRAMS is the folder with NAME_fuzzer. Beside it, in corpus/NAME, stays what reached new code, in NAME.log what
# libFuzzer said, and in found/ each input that failed: it ends the run, which then returns 1. FUZZ_EXECUTIONS ends a run
# earlier, after so many inputs.
set -euo pipefail
readonly programs=$1 name=$2 seconds=$3
here=$(dirname "$0")
readonly here out=$programs/..
mkdir -p "$out/corpus/$name" "$out/found"
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm

dictionary=()
[ ! -f "$here/dictionaries/$name.dict" ] || dictionary=(-dict="$here/dictionaries/$name.dict")
# A server keeps memory from one input to the next, in which libFuzzer would look for leaks a thousand times. At the
# program's end they are looked for in any case.
leaks=1
case $name in embed | embed_stream | rotate | infer) leaks=0 ;; esac
status=0
"$programs/${name}_fuzzer" -max_total_time="$seconds" -runs="${FUZZ_EXECUTIONS:--1}" -timeout=20 -rss_limit_mb=2048 \
  -detect_leaks=$leaks -print_final_stats=1 -max_len=4096 "${dictionary[@]}" -artifact_prefix="$out/found/$name-" \
  "$out/corpus/$name" "$here/seeds/$name" >"$out/$name.log" 2>&1 || status=$?

value() { sed -n "s/^stat::$1: *//p" "$out/$name.log"; }
reached() { grep -oE 'cov: [0-9]+' "$out/$name.log" | tail -n 1 | cut -d' ' -f2; }
executions=$(value number_of_executed_units)
result="held"
[ "$status" -eq 0 ] || result="FAILED: see $out/$name.log and $out/found"
printf '%-17s %12s inputs  %7s a second  %6s edges  %5s MiB  %s\n' "$name" "${executions:-?}" \
  "$(value average_exec_per_sec)" "$(reached)" "$(value peak_rss_mb)" "$result"
[ "$status" -eq 0 ]
