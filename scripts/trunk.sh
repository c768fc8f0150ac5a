#!/usr/bin/env bash
# Runs trunk, for work on the page: installs what it needs (once, some minutes).
#
# scripts/trunk.sh serve [ARGUMENT…]: serves the page and builds it again after each change, with the API of an
# `nprof serve` that runs beside it.
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

[ "$#" != 0 ] || die "scripts/trunk.sh runs trunk; for work on the page:  scripts/trunk.sh serve"
need_writable
need_page quick
need_trunk
export CARGO_TARGET_DIR="${NPROF_PAGE_TARGET:-$ROOT/target-page}"
mkdir -p target-page/trunk
exec trunk --offline=true --skip-version-check "$@"
