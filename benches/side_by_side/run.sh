#!/bin/bash
# Builds what is missing, starts PostgreSQL and every target, compares their answers, loads them in turns, and prints
# the tables of benches/results.md between markers. Loopback only, every run bounded.
#   --targets a,b --workloads Q1,Q3 --seconds 6 --rounds 5 --concurrency 16,1,64 --check-only --out FILE
set -eu
cd "$(dirname "$0")"
./with_postgres.sh ceiling,handwritten,svc-target python3 bench.py "$@"
