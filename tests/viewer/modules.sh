#!/bin/bash
# modules.sh - modules of the page's program, run by node as they are: what they answer is what plain loops over all rows answer.
set -u -o pipefail

command -v node >/dev/null || {
	echo "modules.sh: skipped: no node"
	exit 77
}
node --test "$top_srcdir"/tests/viewer/{modules,search,when,held,graph,groups,columns}_test.mjs
