#!/bin/sh
# timeout: 600
# records.py again, as an ordinary user.
# shellcheck source=tests/e2e/as_user.sh
. "$(dirname "$0")/as_user.sh"
as_user records recorded launched
