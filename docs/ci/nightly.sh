#!/bin/sh
# What cron starts each night: builds the newest main, measures it in three sessions beside a build that never changes,
# and asks the gate. A line of crontab:
#
#   30 1 * * *  cd $HOME/server && BENCHDASH_URL=https://benchdash.example.org ./nightly.sh >>nightly.log 2>&1
#
# Wanted: BENCHDASH_TOKEN (a token with the scope upload) in ~/.benchdash-token, a file that only its owner reads; a
# checkout of main as the working directory, with build.sh FOLDER, which builds it into a folder, and bench.sh
# FOLDER, which prints the report of one run of that build; and in ./control a build that stays as it is.
set -eu
BENCHDASH_TOKEN=${BENCHDASH_TOKEN:-$(cat "$HOME/.benchdash-token")}
export BENCHDASH_URL BENCHDASH_TOKEN

curl -fsS -o benchdash.new "$BENCHDASH_URL/client/benchdash.py" && mv benchdash.new benchdash.py
# What was measured while the dashboard was down.
python3 benchdash.py flush || true

git pull --quiet --ff-only
./build.sh build
python3 benchdash.py run --product MariaDB --version "$(cat VERSION)" --commit git --hardware auto \
  --workload oltp_read_only --sessions "${SESSIONS:-3}" --pause "${PAUSE:-1800}" --retry-for 300 \
  --control "./bench.sh control" --control-version 10.11.5 -- ./bench.sh build
python3 benchdash.py gate --product MariaDB --branch main --commit "$(git rev-parse HEAD)"
