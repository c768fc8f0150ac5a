#!/usr/bin/env bash
# Binds the program of the workers to JavaScript, in the folder where trunk puts the page together. A hook of Trunk.toml:
# trunk would build it with other features than the page, and all its dependencies once more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PROFILE="${NPROF_PAGE_PROFILE:-page-quick}"
[ -n "${TRUNK_STAGING_DIR:-}" ] || { echo "nprof: scripts/worker.sh is a hook of trunk; run scripts/page.sh" >&2; exit 1; }

# Together with the page, as scripts/page.sh does it.
packages=(-p nprof-frontend -p nprof-worker)
if [ "$PROFILE" = page-small ]; then packages=(-p nprof-worker); fi
cargo build --locked --profile "$PROFILE" --target wasm32-unknown-unknown "${packages[@]}"
wasm-bindgen --target no-modules --no-typescript --out-name nprof-worker --out-dir "$TRUNK_STAGING_DIR" \
    "${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/$PROFILE/nprof-worker.wasm"
