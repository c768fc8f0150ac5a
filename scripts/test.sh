#!/usr/bin/env bash
# Runs all tests of the project: format, lints, Rust tests, the page in a browser. Installs what is missing. Goes on after
# a failure, and closes with "N passed, N failed".
#
# scripts/test.sh [SUITE…]: only the suites named. Those of a commit: format page lint rust browser deny. What needs many
# minutes runs with NPROF_NIGHTLY=1, or by name: html trunk docs fuzz release.
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

COMMIT=(format page lint rust browser deny)
NIGHTLY=(html trunk docs fuzz release)
# Number of suites that the user named; 0 for those of a commit.
NAMED=$#
if [ "$NAMED" != 0 ]; then
    SUITES=("$@")
elif [ -n "${NPROF_NIGHTLY:-}" ]; then
    SUITES=("${COMMIT[@]}" "${NIGHTLY[@]}")
else
    SUITES=("${COMMIT[@]}")
fi
# The targets of libFuzzer are not shipped, so its licence does not matter.
SHIPPED=(--features nprof-server/ship)
ADVISORIES=https://github.com/rustsec/advisory-db
# Most bytes of the page's programs, compressed by gzip.
PAGE_BYTES=4200000
# Seconds of fuzzing for each target.
FUZZ_SECONDS=60
# What cargo's tests close with.
RUST_PASSED='^test result: .* ([0-9]+) passed; .*'
RUST_FAILED='^test result: .* ([0-9]+) failed; .*'
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

# A dependency added to a crate must be in the lock file: better said in the first second than after the last build.
suite_format() {
    check format cargo fmt --all --check
    check lock cargo metadata --locked --format-version 1 >/dev/null
}

# cargo_of_page COMMAND…: in the folder where the page is built.
cargo_of_page() { CARGO_TARGET_DIR="${NPROF_PAGE_TARGET:-$ROOT/target-page}" "$@"; }

# Code that only the server runs comes into the page by one table of functions: see docs/decisions/0042.
page_is_small() (
    local bytes
    bytes="$(page_bytes)"
    [ "$bytes" -le "$PAGE_BYTES" ] || die "the programs of the page take $bytes bytes of gzip, at most $PAGE_BYTES are expected"
)

# The binary that the tests build takes the page in. The bundler's dependencies are compiled by then.
suite_page() {
    check page "$ROOT/scripts/page.sh"
    check page page_is_small
    counted page "$RUST_PASSED" "$RUST_FAILED" cargo_of_page host_cargo test -p nprof-bundler
}

# The page's project as work on the page takes it.
suite_trunk() { check trunk "$ROOT/scripts/trunk.sh" build; }

# The page's components are looked at as they are compiled, for wasm.
lint_page() (
    cargo_of_page host_cargo clippy -p nprof-bundler --no-deps --all-targets -- -D warnings || return 1
    need_wasm_target
    cargo_of_page cargo clippy --locked --target wasm32-unknown-unknown \
        --no-deps -p nprof-frontend -p nprof-worker -- -D warnings
)

# document PACKAGE…: private items too, so that links to them lead somewhere.
document() {
    RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" \
        cargo doc --locked --no-deps --document-private-items "$@"
}

suite_lint() {
    check lint cargo clippy --locked "${WORKSPACE[@]}" --all-targets -- -D warnings
    check lint lint_page
    check docs document "${WORKSPACE[@]}" --exclude nprof-server --exclude nprof-frontend
}

# Of all packages, components included.
suite_docs() { check docs document --workspace; }

suite_rust() {
    counted rust "$RUST_PASSED" "$RUST_FAILED" cargo test --locked "${WORKSPACE[@]}" --no-fail-fast
}

# The files that look at an HTML file too: the others need a server. A commit runs those that differ most in what they ask,
# since contract.test.mjs compares all answers of a file with those of a server.
FILES_OF_HTML=(aiu arrows clocks collectives culprit data difference findings gone hits keys narrow overview panel pins plain plots ranks
    search state timeline times touch waits)
FILES_OF_HTML_IN_A_COMMIT=(collectives data timeline)

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

# in_browser COMMAND…: runs a command with a debug binary and the browsers.
in_browser() {
    if ! compgen -G 'tests/browser/*.test.mjs' >/dev/null; then
        die "tests/browser has no *.test.mjs: this is no complete checkout"
    fi
    need_node
    # As the Rust tests build it: with the features of one package alone, everything would be compiled once more.
    if ! cargo test --locked "${WORKSPACE[@]}" --no-run; then
        count browser 0 1
        return
    fi
    (
        cd tests/browser
        if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
            say "Installing Playwright and Puppeteer"
            npm ci --no-audit --no-fund --loglevel=error
        fi
        NPROF_BIN="${CARGO_TARGET_DIR:-$ROOT/target}/debug/nprof"
        NPROF_FIREFOX="$(need_firefox)" || say "No Firefox: its tests are skipped"
        NPROF_STORES="$RESULTS/stores"
        mkdir -p "$NPROF_STORES"
        export NPROF_FIREFOX NPROF_BIN NPROF_STORES
        "$@"
    ) </dev/null || count browser 0 1
}

# Served pages in Chromium's headless shell, unless the user names a browser.
served_files() {
    local named="${NPROF_CHROMIUM:-}" browser
    browser="$(need_chromium)" || return 1
    if [ -z "$named" ]; then browser="$(need_headless_shell)" || browser="$(need_chromium)"; fi
    NPROF_CHROMIUM="$browser" browser_files browser ./*.test.mjs
}

# html_files NAME…: the same tests on HTML files that are exported from the server's store, in Chromium itself.
html_files() {
    local browser
    browser="$(need_chromium)" || return 1
    NPROF_CHROMIUM="$browser" NPROF_SOURCE=html browser_files html "${@/%/.test.mjs}"
}

commit_files() {
    served_files && html_files "${FILES_OF_HTML_IN_A_COMMIT[@]}"
}

suite_browser() { in_browser commit_files; }
suite_html() { in_browser html_files "${FILES_OF_HTML[@]}"; }

suite_fuzz() { check fuzz "$ROOT/scripts/fuzz.sh" "$FUZZ_SECONDS"; }

suite_release() { check release "$ROOT/scripts/release.sh"; }

# The licences themselves are one of the Rust tests; this adds advisories, sources and duplicates. Building the tool
# takes minutes, so only those who name this suite get it built.
suite_deny() {
    if [ "$NAMED" = 0 ] && ! has cargo-deny; then
        say "cargo-deny is not installed: skipped (scripts/test.sh deny builds it)"
        return
    fi
    [ "$NAMED" = 0 ] || need_deny
    check deny cargo deny "${SHIPPED[@]}" --offline check --hide-inclusion-graph licenses bans sources
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
        [ "$(type -t "suite_$suite")" = function ] || die "no suite '$suite'; there are: ${COMMIT[*]} ${NIGHTLY[*]}"
        case "$suite" in
        page | lint | trunk) commands+=(clang llvm-ar) ;;
        browser | html)
            commands+=(node npm)
            if chromium_is_package; then commands+=(chromium); fi
            ;;
        fuzz) commands+=(c++) ;;
        release) commands+=(node npm clang llvm-ar) ;;
        esac
    done
    need_rust "${commands[@]}"
    # In a shell of its own: what it sets is for the page alone.
    case " ${SUITES[*]} " in *" page "* | *" lint "* | *" release "* | *" trunk "*) (need_wasm_target) ;; esac
}

# run SUITE
run() {
    local started=$SECONDS
    say "Suite $1"
    "suite_$1"
    echo "$1 $((SECONDS - started))" >>"$RESULTS/times"
}

# The page is built beside the suites that need none: each of them ends with some one-threaded seconds.
BESIDE=""
run_beside() {
    run "$1" >"$RESULTS/beside" 2>&1 &
    BESIDE=$!
}

await_page() {
    [ -n "$BESIDE" ] || return 0
    wait "$BESIDE" || die "the suite of the page broke off: $(tail -n 5 "$RESULTS/beside")"
    cat "$RESULTS/beside"
    BESIDE=""
}

need_writable
need_all
for suite in "${SUITES[@]}"; do
    case "$suite" in
    page) run_beside page ;;
    format | lint | docs | deny) run "$suite" ;;
    *)
        await_page
        run "$suite"
        ;;
    esac
done
await_page

say "Results"
awk '{ printf "%-10s %5d passed %5d failed\n", $1, $2, $3 }' "$RESULTS/counts"
cat "$RESULTS/notes"
awk '{ printf "%s%s %d s", (NR == 1 ? "Time: " : ", "), $1, $2 } END { print "" }' "$RESULTS/times"
awk '{ passed += $2; failed += $3 } END { printf "%d passed, %d failed\n", passed, failed; exit failed != 0 }' "$RESULTS/counts"
