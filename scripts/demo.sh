#!/usr/bin/env bash
# Builds nprof with its page, then captures a profile of two simulated ranks, stores it and serves it: open the address
# that it prints. Installs what is missing, and is quick the second time.
#
# scripts/demo.sh [ARGUMENT…]: the arguments go to `nprof demo`, for example --port 3002.
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"

need_writable
"$ROOT/scripts/page.sh"
need_rust cc

say "Building nprof"
cd "$ROOT"
cargo build --release --locked -p nprof-server
TARGET="${CARGO_TARGET_DIR:-$ROOT/target}"

say "Running: $TARGET/release/nprof demo $*"
exec "$TARGET/release/nprof" demo "$@"
