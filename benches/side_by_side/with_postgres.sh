#!/bin/bash
# with_postgres.sh MANIFESTS PROGRAM…: builds what the manifests name (comma-separated; may be empty), starts the bench
# database, runs the program, and stops the database.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
IFS=, read -r -a manifests <<< "$1"
shift
"$here/setup.sh" "${manifests[@]}" >&2
. "$here/env.sh"
"$here/pg.sh" start
trap '"$here/pg.sh" stop >/dev/null' EXIT
CARGO_TARGET_DIR=$BENCH_TARGET "$@"
