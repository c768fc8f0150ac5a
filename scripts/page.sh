#!/usr/bin/env bash
# Builds the page (wasm, js, css) into frontend/dist, from where the binary takes it. Does nothing when it is up to date.
#
# scripts/page.sh [--force]
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

DIST=frontend/dist
# Everything the page is made of. A folder's own time tells of files that were removed from it.
SOURCES=(frontend engine/src engine/Cargo.toml capture/src capture/Cargo.toml Cargo.toml Cargo.lock Trunk.toml)

is_fresh() {
    [ -f "$DIST/index.html" ] || return 1
    [ -z "$(find "${SOURCES[@]}" -path "$DIST" -prune -o -newer "$DIST/index.html" -print -quit)" ]
}

if [ "${1:-}" != --force ] && is_fresh; then
    say "The page is up to date ($DIST)"
    exit 0
fi
[ -f frontend/index.html ] || die "frontend/index.html is missing: this is no complete checkout"

# What the user may have to install comes first: the tools take minutes to build.
need_writable
need_rust node npm clang llvm-ar
need_wasm_target
need_trunk
need_wasm_bindgen
need_wasm_opt

# Made before the build starts, so that a file saved during the build counts as newer than its result.
mkdir -p "$DIST"
STARTED="$(mktemp)"
trap 'rm -f "$STARTED"' EXIT

say "Building the page with trunk"
# A folder of its own: with two compilers, or two sets of flags, one would throw out the other's work.
export CARGO_TARGET_DIR="${NPROF_PAGE_TARGET:-$ROOT/target-page}"
# What trunk would download is on PATH already.
trunk --offline=true --skip-version-check build --release=true --cargo-profile page
touch -r "$STARTED" "$DIST/index.html"

say "The page is built: $(find "$DIST" -name '*.wasm' -exec gzip -c {} + | wc -c) bytes of wasm, compressed"
