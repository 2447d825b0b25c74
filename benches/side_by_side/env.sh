# Sourced: where the programs keep their files and which PostgreSQL they use (the newest installed one).
BENCH_WORK=${BENCH_WORK:-${TMPDIR:-/tmp}/svc-bench}
BENCH_TARGET=${BENCH_TARGET:-$BENCH_WORK/target}
BENCH_PGBIN=${BENCH_PGBIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)}
BENCH_PGBIN=${BENCH_PGBIN:-$(pg_config --bindir 2>/dev/null || true)}
BENCH_PGDATA=${BENCH_PGDATA:-$BENCH_WORK/pg}
# The port of the server that runs, or one that is free, below the range that Linux hands to outgoing connections.
if [ -z "${BENCH_PGPORT:-}" ]; then
  if kill -0 "$(sed -n 1p "$BENCH_PGDATA/postmaster.pid" 2>/dev/null)" 2>/dev/null; then
    BENCH_PGPORT=$(sed -n 4p "$BENCH_PGDATA/postmaster.pid")
  fi
  BENCH_PGPORT=${BENCH_PGPORT:-$(python3 "$(dirname "${BASH_SOURCE[0]}")/free_port.py")}
fi
export BENCH_WORK BENCH_TARGET BENCH_PGBIN BENCH_PGPORT BENCH_PGDATA
PATH=$BENCH_PGBIN:$PATH
