# Sourced: where the programs keep their files and which PostgreSQL they use (the newest installed one).
BENCH_WORK=${BENCH_WORK:-${TMPDIR:-/tmp}/svc-bench}
BENCH_TARGET=${BENCH_TARGET:-$BENCH_WORK/target}
BENCH_PGBIN=${BENCH_PGBIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)}
BENCH_PGBIN=${BENCH_PGBIN:-$(pg_config --bindir 2>/dev/null || true)}
BENCH_PGPORT=${BENCH_PGPORT:-54990}
BENCH_PGDATA=${BENCH_PGDATA:-$BENCH_WORK/pg}
export BENCH_WORK BENCH_TARGET BENCH_PGBIN BENCH_PGPORT BENCH_PGDATA
PATH=$BENCH_PGBIN:$PATH
