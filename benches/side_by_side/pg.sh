#!/bin/bash
# pg.sh start|load|stop: a private PostgreSQL (trust on loopback only).
set -eu
here=$(cd "$(dirname "$0")" && pwd); . "$here/env.sh"
BIN=$BENCH_PGBIN PORT=$BENCH_PGPORT D=$BENCH_PGDATA
as_pg() { if [ "$(id -u)" = 0 ]; then su postgres -s /bin/bash -c "$1"; else bash -c "$1"; fi; }
P="psql -qX -h 127.0.0.1 -p $PORT -U postgres -v ON_ERROR_STOP=1"
case ${1:-start} in
start)
  mkdir -p "$BENCH_WORK"; chmod 711 "$BENCH_WORK"
  if [ ! -f "$D/PG_VERSION" ]; then
    mkdir -p "$D"; [ "$(id -u)" = 0 ] && chown postgres:postgres "$D"
    as_pg "$BIN/initdb -D $D -A trust -U postgres -E UTF8 --locale=C.UTF-8 >/dev/null"
    cat >> "$D/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = '$D'
shared_buffers = 1GB
effective_cache_size = 8GB
max_connections = 200
max_wal_size = 4GB
jit = off
autovacuum = off          # the driver vacuums between runs
log_min_messages = fatal
CONF
  fi
  pg_isready -q -h 127.0.0.1 -p "$PORT" || as_pg "$BIN/pg_ctl -D $D -l $D/log.txt -o '-p $PORT' -w start >/dev/null"
  # What was loaded before it had all tables is loaded anew.
  [ "$($P -d bench -Atc "select to_regclass('c_post_tag') is not null" 2>/dev/null)" = t ] || exec "$0" load ;;
load)
  export PGOPTIONS='-c client_min_messages=warning'
  $P -c 'DROP DATABASE IF EXISTS bench' -c 'DROP DATABASE IF EXISTS bench_new' -c 'CREATE DATABASE bench_new'
  $P -c "ALTER DATABASE bench_new SET timezone = 'UTC'"
  for f in schema.sql seed.sql views.sql tv.sql columns.sql data.sql tags.sql; do $P -d bench_new -f "$here/$f"; done
  $P -c 'ALTER DATABASE bench_new RENAME TO bench' ;;
stop) as_pg "$BIN/pg_ctl -D $D -m fast stop" ;;
esac
