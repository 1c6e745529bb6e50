#!/bin/sh
# timeout: 600
# cases.py again, as an ordinary user who may see and signal less.
# shellcheck source=tests/e2e/as_user.sh
. "$(dirname "$0")/as_user.sh"
as_user cases
