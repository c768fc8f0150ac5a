#!/usr/bin/env bash
# Builds the page (wasm, js, css) into frontend/dist, from where the binary takes it. Does nothing when it is up to date.
#
# scripts/page.sh [--small] [--force]: with --small the page that ships, which is smaller and takes longer;
# with --force even when nothing has changed.
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

DIST=frontend/dist
# Names the form of the page in DIST, and is as old as its sources. Hidden, so it is no file of the page.
STAMP="$DIST/.form"
# Everything the page is made of. A folder's own time tells of files that were removed from it.
SOURCES=(frontend engine/src engine/Cargo.toml capture/src capture/Cargo.toml Cargo.toml Cargo.lock)
FORM=quick
FORCE=no
for argument in "$@"; do
    case "$argument" in
    --small) FORM=small ;;
    --force) FORCE=yes ;;
    *) die "'$argument' is unknown: scripts/page.sh [--small] [--force]" ;;
    esac
done

need_writable

is_fresh() {
    [ -f "$DIST/index.html" ] && [ -f "$STAMP" ] || return 1
    # The small page serves wherever the quick one does.
    [ "$FORM" = quick ] || [ "$(cat "$STAMP")" = small ] || return 1
    [ -z "$(find "${SOURCES[@]}" -path "$DIST" -prune -o -newer "$STAMP" -print -quit)" ]
}

# A folder of its own: with two compilers, or two sets of flags, one would throw out the other's work.
export CARGO_TARGET_DIR="${NPROF_PAGE_TARGET:-$ROOT/target-page}"

# Another build of the page may be running, such as that of scripts/demo.sh beside the binary's.
mkdir -p "$DIST" "$CARGO_TARGET_DIR"
exec 9>"$CARGO_TARGET_DIR/page.lock"
flock 9

if [ "$FORCE" = no ] && is_fresh; then
    say "The page is up to date ($DIST)"
    exit 0
fi
[ -f frontend/index.html ] || die "frontend/index.html is missing: this is no complete checkout"

# What the user may have to install comes first: the tools take minutes to build.
need_page "$FORM"

# Made before the build starts, so that a file saved during the build counts as newer than its result.
STARTED="$(mktemp)"
trap 'rm -f "$STARTED"' EXIT

say "Building the $FORM page"
PROFILE="page-$FORM"
build_programs() { cargo build --locked --profile "$PROFILE" --target wasm32-unknown-unknown "$@"; }
if [ "$FORM" = quick ]; then
    # Both programs by one cargo, which compiles their dependencies once and links them side by side.
    build_programs -p nprof-frontend -p nprof-worker
else
    # Together, the workers would take features of the page's dependencies, such as all of Unicode.
    build_programs -p nprof-frontend
    build_programs -p nprof-worker
fi
host_cargo build -p nprof-bundler
"$CARGO_TARGET_DIR/debug/nprof-bundler" frontend/index.html "$CARGO_TARGET_DIR/wasm32-unknown-unknown/$PROFILE" "$DIST"

if [ "$FORM" = small ]; then
    say "Making its programs small with wasm-opt"
    smaller=()
    for program in "$DIST"/*.wasm; do
        # zstd's shim exports a C library that no script calls. Functions of the same name, which differ in a type,
        # compress to little beside each other. The first KiB of memory is the far end of the stack.
        wasm-opt -Oz --remove-exports='rust_zstd_wasm_shim_*' --low-memory-unused --reorder-functions-by-name \
            "$program" -o "$program.small" &
        smaller+=($!)
    done
    for job in "${smaller[@]}"; do wait "$job" || die "wasm-opt failed: see above"; done
    for program in "$DIST"/*.wasm; do mv "$program.small" "$program"; done
fi
echo "$FORM" >"$STAMP"
touch -r "$STARTED" "$STAMP"

say "The page is built: $(page_bytes) bytes of wasm, compressed"
