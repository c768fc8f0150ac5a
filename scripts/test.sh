#!/usr/bin/env bash
# Runs all tests of the project: format, lints, Rust tests, the engine and the page as wasm, the page in a browser, a
# brief fuzzing. Installs what is missing. Goes on after a failure, and closes with "N passed, N failed".
#
# scripts/test.sh [SUITE…]: only the suites named (format lint rust wasm page browser fuzz deny).
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

ALL=(format page lint rust wasm browser fuzz deny)
SUITES=("${@:-${ALL[@]}}")
# Number of suites that the user named; 0 for all.
NAMED=$#
ADVISORIES=https://github.com/rustsec/advisory-db
PASSED=0
FAILED=0
SUMMARY=()
TIMES=()
LOG="$(mktemp)"
trap 'rm -f "$LOG"' EXIT
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-auto}"

# count NAME PASSED FAILED
count() {
    PASSED=$((PASSED + $2))
    FAILED=$((FAILED + $3))
    SUMMARY+=("$(printf '%-10s %5d passed %5d failed' "$1" "$2" "$3")")
}

# Sums a field over the lines of the log: sum_of PATTERN, whose first group is the number.
sum_of() {
    sed -nE "s/$1/\\1/p" "$LOG" | awk '{ sum += $1 } END { print sum + 0 }'
}

# check NAME COMMAND…: one test, passed when the command succeeds.
check() {
    local name="$1"
    shift
    if "$@" </dev/null; then count "$name" 1 0; else count "$name" 0 1; fi
}

# counted NAME PASSED_PATTERN FAILED_PATTERN COMMAND…: as many tests as the command's own closing lines state. A
# command that fails without having counted a failure (it did not compile, say) is one failure.
counted() {
    local name="$1" passed_pattern="$2" failed_pattern="$3" code=0 passed failed
    shift 3
    "$@" </dev/null 2>&1 | tee "$LOG" || code=1
    passed="$(sum_of "$passed_pattern")"
    failed="$(sum_of "$failed_pattern")"
    if [ "$code" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    count "$name" "$passed" "$failed"
}

# A dependency added to a crate must be in both lock files: better said in the first second than after the last build.
suite_format() {
    check format cargo fmt --all --check
    check locks cargo metadata --locked --format-version 1 --manifest-path Cargo.toml >/dev/null
    check locks cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
}

# The page first: the binary that the tests build takes it in.
suite_page() { check page "$ROOT/scripts/page.sh"; }

suite_lint() {
    check lint cargo clippy --locked --workspace --all-targets -- -D warnings
    # Private items are documented too, so links to them lead somewhere.
    RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" \
        check docs cargo doc --locked --workspace --no-deps --document-private-items
}

suite_rust() {
    counted rust '^test result: .* ([0-9]+) passed; .*' '^test result: .* ([0-9]+) failed; .*' \
        cargo test --locked --workspace --no-fail-fast
}

engine_as_wasm() (
    need_wasm_target
    CARGO_TARGET_DIR="${NPROF_PAGE_TARGET:-$ROOT/target-page}" \
        cargo build --locked --profile page -p nprof-engine --target wasm32-unknown-unknown
)

suite_wasm() { check wasm engine_as_wasm; }

browser_tests() (
    need_node
    cd tests/browser
    if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
        say "Installing Playwright and Puppeteer"
        npm ci --no-audit --no-fund --loglevel=error
    fi
    # Called where a failure is counted, so that `set -e` does not see this one.
    NPROF_CHROMIUM="$(need_chromium)" || return 1
    NPROF_BIN="${CARGO_TARGET_DIR:-$ROOT/target}/debug/nprof"
    NPROF_FIREFOX="$(need_firefox)" || say "No Firefox: its tests are skipped"
    export NPROF_CHROMIUM NPROF_FIREFOX NPROF_BIN
    cargo build --locked -p nprof-server
    local status=0
    node --test --test-reporter=tap ./*.test.mjs || status=1
    # The same tests look at HTML files that are exported from the server's store.
    NPROF_SOURCE=html node --test --test-reporter=tap \
        ./{arrows,clocks,collectives,culprit,data,difference,hits,keys,narrow,overview,panel,plain,plots,ranks,search,state,timeline,times,touch,waits}.test.mjs || status=1
    return "$status"
)

suite_browser() {
    if ! compgen -G 'tests/browser/*.test.mjs' >/dev/null; then
        die "tests/browser has no *.test.mjs: this is no complete checkout"
    fi
    counted browser '^# pass ([0-9]+)$' '^# fail ([0-9]+)$' browser_tests
}

suite_fuzz() { check fuzz "$ROOT/scripts/fuzz.sh"; }

# The licences themselves are one of the Rust tests; this adds advisories, sources and duplicates. Building the tool
# takes minutes, so only those who name this suite get it built.
suite_deny() {
    if [ "$NAMED" = 0 ] && ! has cargo-deny; then
        say "cargo-deny is not installed: skipped (scripts/test.sh deny builds it)"
        return
    fi
    [ "$NAMED" = 0 ] || need_deny
    # These need no network.
    check deny cargo deny --all-features --offline check --hide-inclusion-graph licenses bans sources
    if advisories_are_in_reach; then
        check deny cargo deny --all-features check --hide-inclusion-graph advisories
    else
        say "ADVISORIES ARE NOT CHECKED: $ADVISORIES cannot be reached from here"
    fi
}

# Whether the database of advisories can be fetched.
advisories_are_in_reach() {
    has git && GIT_TERMINAL_PROMPT=0 timeout 30 git ls-remote --exit-code "$ADVISORIES" HEAD >/dev/null 2>&1
}

# What the suites need from outside: said, or installed, before anything is built.
need_all() {
    local suite commands=()
    for suite in "${SUITES[@]}"; do
        [ "$(type -t "suite_$suite")" = function ] || die "no suite '$suite'; there are: ${ALL[*]}"
        case "$suite" in
        page) commands+=(node npm clang llvm-ar) ;;
        wasm) commands+=(clang llvm-ar) ;;
        browser)
            commands+=(node npm)
            if chromium_is_package; then commands+=(chromium); fi
            ;;
        fuzz) commands+=(c++) ;;
        esac
    done
    need_rust "${commands[@]}"
    # In a shell of its own: what it sets is for the page alone.
    case " ${SUITES[*]} " in *" page "* | *" wasm "*) (need_wasm_target) ;; esac
}

need_writable
need_all
for suite in "${SUITES[@]}"; do
    say "Suite $suite"
    started=$SECONDS
    "suite_$suite"
    TIMES+=("$suite $((SECONDS - started)) s")
done

say "Results"
printf '%s\n' "${SUMMARY[@]}"
printf 'Time: %s\n' "$(IFS=,; printf '%s' "${TIMES[*]}")"
printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
[ "$FAILED" = 0 ]
