#!/bin/sh
# One session: measures the build in ./build and sends the result. With BASE_COMMIT, the build in ./base is that
# commit, and both are measured in turns (base, build, build, base), which a noisy machine needs.
# The gate runs this again for each session that is missing.
set -eu
set -- python3 benchdash.py run --product MariaDB --version "$(cat VERSION)" --hardware auto \
  --workload oltp_read_only "$@"
if [ -n "${BASE_COMMIT:-}" ]; then
  set -- "$@" --base "./bench.sh base" --base-commit "$BASE_COMMIT"
fi
exec "$@" -- ./bench.sh build
