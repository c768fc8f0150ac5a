#!/usr/bin/env bash
# Fuzzes every reader of bytes for some seconds each, guided by coverage (libFuzzer), on stable Rust.
#
# scripts/fuzz.sh [SECONDS [TARGET…]]: 5 seconds for each of all targets unless told otherwise. What crashes a target is
# kept in fuzz/artifacts/TARGET; run that file again by:
# NPROF_FUZZ_TARGET=TARGET target-fuzz/HOST/fuzz/nprof-fuzz FILE
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

SECONDS_EACH="${1:-5}"
shift || true
TARGETS=("$@")
if [ "${#TARGETS[@]}" = 0 ]; then
    mapfile -t TARGETS < <(sed -n 's/^ *Target { name: "\(.*\)", run.*/\1/p' fuzz/src/targets/mod.rs)
fi

need_writable
# libFuzzer is C++.
need_rust c++

HOST="$(rustc -vV | sed -n 's/^host: //p')"
BUILT="${NPROF_FUZZ_TARGET:-$ROOT/target-fuzz}"

say "Building the fuzz targets"
# What cargo-fuzz passes, less the sanitizers: those need nightly, and the readers are safe Rust. It also passes one
# codegen unit for each crate, which leaves processors idle. The target is named so that build scripts and macros are
# built without these flags.
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares" \
    CARGO_TARGET_DIR="$BUILT" \
    cargo build --profile fuzz --locked -p nprof-fuzz --features libfuzzer --target "$HOST"

# The seeds of text formats lie in fuzz/seeds; those of binary ones are made, as every change of a format changes them.
SEEDS="$BUILT/seeds"
"$BUILT/$HOST/fuzz/nprof-fuzz-seeds" "$SEEDS"

# fuzz TARGET: fuzzes one target, and says what it found.
fuzz() {
    local target="$1" seeds log="fuzz/artifacts/$1.log" arguments=("fuzz/corpus/$1")
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    for seeds in "fuzz/seeds/$target" "$SEEDS/$target"; do
        [ ! -d "$seeds" ] || arguments+=("$seeds")
    done
    arguments+=(-max_total_time="$SECONDS_EACH" -timeout=20
        -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="fuzz/artifacts/$target/" -verbosity=0
        -print_funcs=0 -print_final_stats=1)
    [ ! -f "fuzz/$target.dict" ] || arguments+=(-dict="fuzz/$target.dict")
    if NPROF_FUZZ_TARGET="$target" "$BUILT/$HOST/fuzz/nprof-fuzz" "${arguments[@]}" >"$log" 2>&1; then
        say "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs tried"
    else
        say "$target failed"
        tail -n 40 "$log"
        return 1
    fi
}

say "Fuzzing ${#TARGETS[@]} targets for $SECONDS_EACH s each, one a processor at a time"
FAILED=0
RUNNING=0
for target in "${TARGETS[@]}"; do
    if [ "$RUNNING" = "$(nproc)" ]; then
        wait -n || FAILED=$((FAILED + 1))
        RUNNING=$((RUNNING - 1))
    fi
    fuzz "$target" &
    RUNNING=$((RUNNING + 1))
done
while [ "$RUNNING" -gt 0 ]; do
    wait -n || FAILED=$((FAILED + 1))
    RUNNING=$((RUNNING - 1))
done
[ "$FAILED" = 0 ] || die "$FAILED of ${#TARGETS[@]} targets failed: see fuzz/artifacts"
