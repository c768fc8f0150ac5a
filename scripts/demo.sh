#!/usr/bin/env bash
# Builds nprof with its page, then captures a profile of two simulated ranks, stores it and serves it: open the address
# that it prints. Installs what is missing, and is quick the second time.
#
# scripts/demo.sh [ARGUMENT…]: the arguments go to `nprof demo`, for example --port 3002.
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"

need_writable
# All packages at once, before the two builds.
need_rust cc clang llvm-ar

# One after the other: each keeps two cores busy, and together they take an eighth more of the processor.
"$ROOT/scripts/page.sh"
say "Building nprof"
cd "$ROOT"
cargo build --profile demo --locked -p nprof-server
TARGET="${CARGO_TARGET_DIR:-$ROOT/target}"

say "Running: $TARGET/demo/nprof demo $*"
exec "$TARGET/demo/nprof" demo "$@"
