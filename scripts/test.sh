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
# Results of the suites: lines of "name passed failed" in counts, of "suite seconds" in times, remarks in notes.
RESULTS="$(mktemp -d)"
trap 'rm -rf "$RESULTS"' EXIT
touch "$RESULTS/counts" "$RESULTS/times" "$RESULTS/notes"
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-auto}"

# count NAME PASSED FAILED
count() { echo "$1 $2 $3" >>"$RESULTS/counts"; }

# Sums a field over the lines of a log: sum_of LOG PATTERN, whose first group is the number.
sum_of() {
    sed -nE "s/$2/\\1/p" "$1" | awk '{ sum += $1 } END { print sum + 0 }'
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
    local name="$1" passed_pattern="$2" failed_pattern="$3" log="$RESULTS/$1.tap" code=0 passed failed
    shift 3
    "$@" </dev/null 2>&1 | tee "$log" || code=1
    passed="$(sum_of "$log" "$passed_pattern")"
    failed="$(sum_of "$log" "$failed_pattern")"
    if [ "$code" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    count "$name" "$passed" "$failed"
}

# A dependency added to a crate must be in both lock files: better said in the first second than after the last build.
suite_format() {
    check format cargo fmt --all --check
    check format cargo fmt --manifest-path fuzz/Cargo.toml --check
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

# The engine on its own. A check is enough: the suite page generates and links the same code.
engine_as_wasm() (
    need_wasm_target
    CARGO_TARGET_DIR="${NPROF_PAGE_TARGET:-$ROOT/target-page}" \
        cargo check --locked --profile page -p nprof-engine --target wasm32-unknown-unknown
)

suite_wasm() { check wasm engine_as_wasm; }

# The files that look at an HTML file too: the others need a server.
FILES_OF_HTML=(aiu arrows clocks collectives culprit data difference gone hits keys narrow overview panel pins plain plots ranks
    search state timeline times touch waits)

# browser_files NAME FILE…: runs test files, two at a time. Files with a failure run once more, one after another: what
# fails only on a busy machine tells nothing of the page. The results name them, since such a test is to be repaired.
browser_files() {
    local name="$1" log="$RESULTS/$1.tap" again="$RESULTS/$1-again.tap" code=0 passed failed still files=()
    shift
    node --test --test-concurrency=2 --test-reporter=tap "$@" 2>&1 | tee "$log" || code=1
    passed="$(sum_of "$log" '^# pass ([0-9]+)$')"
    failed="$(sum_of "$log" '^# fail ([0-9]+)$')"
    mapfile -t files < <(sed -n "s/^ *location: '.*\/\([a-z]*\.test\.mjs\):[0-9:]*'\$/\1/p" "$log" | sort -u)
    if [ "${#files[@]}" != 0 ]; then
        say "Once more: ${files[*]}"
        code=0
        node --test --test-concurrency=1 --test-reporter=tap "${files[@]}" 2>&1 | tee "$again" || code=1
        still="$(sum_of "$again" '^# fail ([0-9]+)$')"
        # A second run that failed without a count proves nothing.
        if [ "$still" -lt "$failed" ] && { [ "$code" = 0 ] || [ "$still" != 0 ]; }; then
            echo "UNSTEADY: $((failed - still)) tests of $name (${files[*]}) passed only when they ran again" >>"$RESULTS/notes"
            passed=$((passed + failed - still))
            failed="$still"
        fi
    fi
    # A run that ended before it counted a failure, or anything at all, has failed.
    if [ "$failed" = 0 ] && { [ "$code" != 0 ] || [ "$passed" = 0 ]; }; then failed=1; fi
    count "$name" "$passed" "$failed"
}

suite_browser() {
    if ! compgen -G 'tests/browser/*.test.mjs' >/dev/null; then
        die "tests/browser has no *.test.mjs: this is no complete checkout"
    fi
    need_node
    # As the Rust tests build it: with the features of one package alone, everything would be compiled once more.
    if ! cargo test --locked --workspace --no-run; then
        count browser 0 1
        return
    fi
    (
        cd tests/browser
        if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
            say "Installing Playwright and Puppeteer"
            npm ci --no-audit --no-fund --loglevel=error
        fi
        named="${NPROF_CHROMIUM:-}"
        NPROF_CHROMIUM="$(need_chromium)" || exit 1
        shell="$NPROF_CHROMIUM"
        if [ -z "$named" ]; then shell="$(need_headless_shell)" || shell="$NPROF_CHROMIUM"; fi
        NPROF_BIN="${CARGO_TARGET_DIR:-$ROOT/target}/debug/nprof"
        NPROF_FIREFOX="$(need_firefox)" || say "No Firefox: its tests are skipped"
        export NPROF_CHROMIUM NPROF_FIREFOX NPROF_BIN
        NPROF_CHROMIUM="$shell" browser_files browser ./*.test.mjs
        # The same tests look at HTML files that are exported from the server's store, in Chromium itself.
        NPROF_SOURCE=html browser_files html "${FILES_OF_HTML[@]/%/.test.mjs}"
    ) </dev/null || count browser 0 1
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
    local fuzz=(--manifest-path fuzz/Cargo.toml --config deny.toml)
    # These need no network. The fuzz targets are not shipped, so their licences do not matter.
    check deny cargo deny --all-features --offline check --hide-inclusion-graph licenses bans sources
    check deny cargo deny "${fuzz[@]}" --offline check --hide-inclusion-graph bans sources
    if advisories_are_in_reach; then
        check deny cargo deny --all-features check --hide-inclusion-graph advisories
        check deny cargo deny "${fuzz[@]}" check --hide-inclusion-graph advisories
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

# run SUITE
run() {
    local started=$SECONDS
    say "Suite $1"
    "suite_$1"
    echo "$1 $((SECONDS - started))" >>"$RESULTS/times"
}

need_writable
need_all
for suite in "${SUITES[@]}"; do run "$suite"; done

say "Results"
awk '{ printf "%-10s %5d passed %5d failed\n", $1, $2, $3 }' "$RESULTS/counts"
cat "$RESULTS/notes"
awk '{ printf "%s%s %d s", (NR == 1 ? "Time: " : ", "), $1, $2 } END { print "" }' "$RESULTS/times"
awk '{ passed += $2; failed += $3 } END { printf "%d passed, %d failed\n", passed, failed; exit failed != 0 }' "$RESULTS/counts"
