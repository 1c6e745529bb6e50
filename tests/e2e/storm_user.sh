#!/bin/sh
# timeout: 300
# storm.py again, as an ordinary user.
# shellcheck source=tests/e2e/as_user.sh
. "$(dirname "$0")/as_user.sh"
as_user storm storms
