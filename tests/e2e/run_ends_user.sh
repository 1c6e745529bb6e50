#!/bin/sh
# timeout: 400
# run_ends.py again, as an ordinary user: where no cgroup can be made, in the other unit.
# shellcheck source=tests/e2e/as_user.sh
. "$(dirname "$0")/as_user.sh"
as_user run_ends faults launched recorded
