#!/usr/bin/env bash
# Fuzzes every reader of bytes for some seconds each, guided by coverage (libFuzzer), on stable Rust.
#
# scripts/fuzz.sh [SECONDS [TARGET…]]: 10 seconds for each of all targets unless told otherwise. What crashes a target is
# kept in fuzz/artifacts/TARGET; run that file again by:  target-fuzz/HOST/release/TARGET FILE
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

SECONDS_EACH="${1:-10}"
shift || true
TARGETS=("$@")
if [ "${#TARGETS[@]}" = 0 ]; then
    mapfile -t TARGETS < <(sed -n 's/^path = "targets\/\(.*\)\.rs"/\1/p' fuzz/Cargo.toml)
fi

need_writable
# libFuzzer is C++.
need_rust c++

HOST="$(rustc -vV | sed -n 's/^host: //p')"
BUILT="${NPROF_FUZZ_TARGET:-$ROOT/target-fuzz}"

say "Building ${#TARGETS[@]} fuzz targets"
# What cargo-fuzz passes, less the sanitizers: those need nightly, and the readers are safe Rust. The target is named so
# that build scripts and macros are built without it.
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1" \
    CARGO_TARGET_DIR="$BUILT" \
    cargo build --release --locked --manifest-path fuzz/Cargo.toml --target "$HOST"

# The seeds of text formats lie in fuzz/seeds; those of binary ones are made, as every change of a format changes them.
SEEDS="$BUILT/seeds"
cargo run --locked --quiet -p nprof-tests --example seeds -- "$SEEDS"

FAILED=0
for target in "${TARGETS[@]}"; do
    say "Fuzzing $target for $SECONDS_EACH s"
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    arguments=("fuzz/corpus/$target")
    for seeds in "fuzz/seeds/$target" "$SEEDS/$target"; do
        [ ! -d "$seeds" ] || arguments+=("$seeds")
    done
    arguments+=(-max_total_time="$SECONDS_EACH" -timeout=20
        -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="fuzz/artifacts/$target/" -verbosity=0
        -print_funcs=0 -print_final_stats=1)
    [ ! -f "fuzz/$target.dict" ] || arguments+=(-dict="fuzz/$target.dict")
    log="fuzz/artifacts/$target.log"
    if "$BUILT/$HOST/release/$target" "${arguments[@]}" >"$log" 2>&1; then
        sed -n 's/^stat::number_of_executed_units: */   inputs tried: /p' "$log"
    else
        tail -n 40 "$log"
        FAILED=$((FAILED + 1))
    fi
done
[ "$FAILED" = 0 ] || die "$FAILED of ${#TARGETS[@]} targets failed: see fuzz/artifacts"
