#!/bin/sh
# Cargo runs this in place of the compiler for crates of the workspace. The arguments are the
# compiler and its arguments.
case "$CARGO_CRATE_NAME" in
svc_engine) exec "$@" --cfg "svc_unadmitted=\"$UNADMITTED\"" ;;
*) exec "$@" ;;
esac
