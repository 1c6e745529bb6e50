#!/bin/sh
# timeout: 300
# launchers.py again, as an ordinary user, whose unit as a rule is the tree below a subreaper.
# shellcheck source=tests/e2e/as_user.sh
. "$(dirname "$0")/as_user.sh"
as_user launchers marked recorded ssh_server doc/launchers.md
