#!/bin/sh
# timeout: 400
# cases_run.py again, as an ordinary user.
# shellcheck source=tests/e2e/as_user.sh
. "$(dirname "$0")/as_user.sh"
as_user cases_run marked recorded
