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

# The page and its tools beside the binary, which waits for the page where it takes it in (server/build.rs).
PAGE_LOG="$(mktemp)"
"$ROOT/scripts/page.sh" >"$PAGE_LOG" 2>&1 &
PAGE=$!
trap 'kill "$PAGE" 2>/dev/null || true; rm -f "$PAGE_LOG"' EXIT

say "Building nprof, and its page beside it"
cd "$ROOT"
cargo build --profile demo --locked -p nprof-server &
BINARY=$!
if ! wait "$PAGE"; then
    kill "$BINARY" 2>/dev/null || true
    tail -n 30 "$PAGE_LOG" >&2
    die "the page could not be built: see above"
fi
wait "$BINARY" || die "nprof could not be built: see above"
trap - EXIT
rm -f "$PAGE_LOG"
TARGET="${CARGO_TARGET_DIR:-$ROOT/target}"

say "Running: $TARGET/demo/nprof demo $*"
exec "$TARGET/demo/nprof" demo "$@"
