#!/bin/bash
# setup.sh MANIFEST…: wrk and PostgreSQL from Debian's packages where they are missing, and the programs that are named.
set -eu
cd "$(dirname "$0")"
. ./env.sh
mkdir -p "$BENCH_WORK"
chmod 711 "$BENCH_WORK"
missing=()
command -v wrk >/dev/null || missing+=(wrk)
command -v python3 >/dev/null || missing+=(python3)
[ -x "$BENCH_PGBIN/initdb" ] || missing+=(postgresql)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "install ${missing[*]} first (on Debian, as root: apt-get install ${missing[*]})" >&2
    exit 1
  fi
  apt-get update -qq
  apt-get install -y -qq "${missing[@]}" >/dev/null
fi
for manifest; do
  CARGO_TARGET_DIR=$BENCH_TARGET "${CARGO:-cargo}" build --release --manifest-path "$manifest/Cargo.toml"
done
