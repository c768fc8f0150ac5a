# shellcheck shell=bash
# Finds or installs what the scripts need from outside. Sourced by them, never run.
#
# Each `need_*` leaves its tool usable, or stops with the one command that the user must run. A tool is taken from
# $NPROF_TOOLS (a folder that git ignores) or the system; nothing is installed into the user's own cargo or npm folders.

set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
NPROF_TOOLS="${NPROF_TOOLS:-$ROOT/.tools}"
# With 1, a missing tool is an error instead of an installation: `cargo build` must not install software.
NPROF_NO_INSTALL="${NPROF_NO_INSTALL:-0}"

TRUNK_VERSION=0.21.14
BINARYEN_VERSION=132.0.0
DENY_VERSION=0.20.2
ABOUT_VERSION=0.9.3
RUST_VERSION="$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml")"

# The packages and features of native builds: without the page's components, which only a browser runs, and without the
# bundler, which is built beside the page. One set for all, or everything would be compiled once more.
# shellcheck disable=SC2034
WORKSPACE=(--workspace --exclude nprof-bundler --no-default-features --features nprof-capture/read)

# rustup's folder last: a shell that was open before rustup ran does not have it.
export PATH="$NPROF_TOOLS/bin:$NPROF_TOOLS/node_modules/.bin:$PATH:${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin"

say() { printf '%s\n' "== $*"; }

die() {
    printf '%s\n' "nprof: $*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# version_at_least FOUND WANTED
version_at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

refuse_install() {
    [ "$NPROF_NO_INSTALL" != 1 ] || die "$1 is missing; run scripts/page.sh once, it installs what it needs"
}

# The version in Cargo.lock of the one package with this name.
locked_version() {
    sed -n "/^name = \"$1\"\$/{n;s/^version = \"\(.*\)\"/\1/p;}" "$ROOT/Cargo.lock" | head -n 1
}

# Whether packages can be installed: prints what to put before apt-get.
apt_prefix() {
    if [ "$(id -u)" = 0 ]; then
        echo env
    elif has sudo && sudo -n true 2>/dev/null; then
        echo sudo -n env
    else
        return 1
    fi
}

# apt_install PACKAGE…
apt_install() {
    refuse_install "$*"
    has apt-get || die "please install these by your system's package manager, then run this again: $*"
    local found prefix log
    if ! found="$(apt_prefix)"; then
        local command="apt-get update && apt-get install -y --no-install-recommends $*"
        if has sudo; then
            die "packages are missing; please run:  sudo sh -c '$command'   then run this again"
        fi
        die "packages are missing; please run as root:  $command   then run this again"
    fi
    read -ra prefix <<<"$found"
    say "Installing packages: $*"
    log="$(mktemp)"
    if ! { "${prefix[@]}" apt-get update && "${prefix[@]}" DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@"; } </dev/null >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install: $*"
    fi
    rm -f "$log"
}

# The packages that commands come in.
declare -A PACKAGES=([cc]="gcc libc6-dev" [c++]=g++ [node]=nodejs [npm]=npm [clang]=clang [llvm-ar]=llvm [wasm-ld]=lld
    [chromium]="chromium fonts-dejavu-core" [chromium-headless-shell]=chromium-headless-shell [firefox-esr]=firefox-esr)

# need_commands COMMAND…: installs the packages of those that are missing, all at once: whoever has to install them by
# hand shall have to do it once.
need_commands() {
    local command package packages missing=()
    for command in "$@"; do
        has "$command" && continue
        read -ra packages <<<"${PACKAGES[$command]}"
        for package in "${packages[@]}"; do
            [[ " ${missing[*]} " = *" $package "* ]] || missing+=("$package")
        done
    done
    [ "${#missing[@]}" = 0 ] || apt_install "${missing[@]}"
}

# Builds write into the project's folder.
need_writable() {
    [ -w "$ROOT" ] || die "$ROOT cannot be written to; please run:  cp -r '$ROOT' ~/nprof && cd ~/nprof   then run this again there"
}

# need_rust [COMMAND…]: Rust, and other commands beside its C compiler.
need_rust() {
    local install="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y" found
    has cargo || die "cargo is missing; please run:  $install   then run this again"
    found="$(rustc --version 2>/dev/null | cut -d ' ' -f 2)" ||
        die "cargo is there, but no compiler; please run:  rustup default stable   then run this again"
    if ! version_at_least "$found" "$RUST_VERSION"; then
        if has rustup; then install="rustup update stable"; fi
        die "Rust $found is too old, $RUST_VERSION is needed; please run:  $install   then run this again"
    fi
    need_commands cc "$@"
}

need_node() {
    need_commands node npm
    local found
    found="$(node --version)"
    version_at_least "${found#v}" 18.15 ||
        die "node $found is too old, 18.15 is needed; install a newer one from https://nodejs.org, then run this again"
}

# on_host COMMAND…: without the settings of an outer build or of need_wasm_target (another compiler, flags, a share of the
# jobs), which are not for programs that run on this machine.
on_host() { env -u RUSTC -u RUSTC_BOOTSTRAP -u RUSTFLAGS -u CARGO_UNSTABLE_BUILD_STD -u CARGO_MAKEFLAGS "$@"; }

# host_cargo COMMAND ARGUMENT…: cargo for the bundler. It runs for seconds, so it is neither optimised nor debugged.
host_cargo() { CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false on_host cargo "$1" --locked "${@:2}"; }

# cargo_install BINARY CRATE VERSION [ARGUMENT…]: builds a tool into $NPROF_TOOLS.
cargo_install() {
    local binary="$1" crate="$2" version="$3"
    shift 3
    case "$("$binary" --version 2>/dev/null || true)" in
    *" $version" | *" $version "*) return ;;
    esac
    refuse_install "$binary $version"
    say "Building $crate $version (once, some minutes)"
    mkdir -p "$NPROF_TOOLS"
    local log="$NPROF_TOOLS/$crate.log"
    # Not optimised: that takes longer than all it will ever save, since most tools run for seconds.
    on_host env CARGO_TARGET_DIR="$NPROF_TOOLS/target" CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_OPT_LEVEL="${TOOL_OPT_LEVEL:-0}" \
        CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=false \
        CARGO_PROFILE_RELEASE_PANIC=abort \
        cargo install "$crate" --version "$version" --root "$NPROF_TOOLS" "$@" </dev/null >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; die "cargo could not build $crate $version (all of it: $log)"; }
    rm -rf "$NPROF_TOOLS/target"
}

# Serves the page while it is worked on (scripts/trunk.sh). Without TLS: its downloads are what need that, and all that it
# would download is here.
need_trunk() {
    cargo_install trunk trunk "$TRUNK_VERSION" --locked --no-default-features
    # The page's glue code and this tool must be of the same version to the last digit.
    cargo_install wasm-bindgen wasm-bindgen-cli "$(locked_version wasm-bindgen)" --bin wasm-bindgen --no-default-features
}

# Checks what dependencies may be. Building it takes longer than any of the suites that are always run.
need_deny() { cargo_install cargo-deny cargo-deny "$DENY_VERSION" --locked; }

# Lists the licences of all that ships. It compares the texts of hundreds of crates, which takes many minutes
# without optimisation.
need_about() { TOOL_OPT_LEVEL=2 cargo_install cargo-about cargo-about "$ABOUT_VERSION" --locked --features cli; }

# Bytes of the programs of the page in frontend/dist, compressed.
page_bytes() { find "$ROOT/frontend/dist" -name '*.wasm' -exec gzip -c {} + | wc -c; }

# need_page FORM: all that builds the page. Only the small form needs wasm-opt.
need_page() {
    local commands=(clang llvm-ar)
    if [ "$1" = small ]; then commands+=(node npm); fi
    need_rust "${commands[@]}"
    need_wasm_target
    if [ "$1" = small ]; then need_wasm_opt; fi
}

# npm's build of wasm-opt: distributions ship versions that do not know what today's compilers write.
need_wasm_opt() {
    local package="$NPROF_TOOLS/node_modules/binaryen/package.json"
    need_node
    grep -qs "\"version\": \"$BINARYEN_VERSION\"" "$package" && return
    refuse_install "wasm-opt"
    say "Installing wasm-opt (npm's binaryen $BINARYEN_VERSION)"
    mkdir -p "$NPROF_TOOLS"
    npm install --prefix "$NPROF_TOOLS" --no-audit --no-fund --loglevel=error "binaryen@$BINARYEN_VERSION" </dev/null
}

# Chooses how wasm32 is compiled, and exports it for cargo: rustup's target where it can be had, else a Debian
# compiler that builds the standard library from source. NPROF_WASM=rustup or =debian takes the choice away.
need_wasm_target() {
    need_commands clang llvm-ar
    # zstd is C: gcc has no wasm32, and GNU ar writes archives without the index that the linker reads.
    export CC_wasm32_unknown_unknown=clang AR_wasm32_unknown_unknown=llvm-ar
    local sysroot
    sysroot="$(rustc --print sysroot)"
    case "${NPROF_WASM:-}" in
    rustup) rustup_wasm "$sysroot" || die "rustup cannot add wasm32-unknown-unknown here" ;;
    debian) debian_wasm "$sysroot" ;;
    '') rustup_wasm "$sysroot" || debian_wasm "$sysroot" ;;
    *) die "NPROF_WASM is '$NPROF_WASM'; it may be 'rustup' or 'debian'" ;;
    esac
}

rustup_wasm() {
    [ -d "$1/lib/rustlib/wasm32-unknown-unknown/lib" ] && return
    has rustup || return 1
    [ "$NPROF_NO_INSTALL" != 1 ] || return 1
    say "Adding the wasm32 target by rustup"
    timeout 120 rustup target add wasm32-unknown-unknown </dev/null >/dev/null 2>&1 && return
    say "rustup cannot reach its server; trying Debian's compiler instead"
    return 1
}

debian_wasm() {
    local linker
    linker="$1/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld"
    if [ ! -x /usr/bin/rustc ] || ! version_at_least "$(/usr/bin/rustc --version | cut -d ' ' -f 2)" "$RUST_VERSION" ||
        [ ! -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/std" ]; then
        apt_install rustc-web rust-web-src
        version_at_least "$(/usr/bin/rustc --version | cut -d ' ' -f 2)" "$RUST_VERSION" ||
            die "this distribution's rustc is older than $RUST_VERSION; please run:  rustup target add wasm32-unknown-unknown"
    fi
    if [ ! -x "$linker" ]; then
        need_commands wasm-ld
        linker="$(command -v wasm-ld)"
    fi
    export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_abort
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker"
}

# Prints the path of the first of these programs that runs. Ubuntu's browsers can be scripts that only tell how to
# install a snap.
first_that_runs() {
    local name
    for name in "$@"; do
        if has "$name" && "$name" --version >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    return 1
}

# Prints the path of a Chromium that is installed.
installed_chromium() {
    first_that_runs ${NPROF_CHROMIUM:+"$NPROF_CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable
}

# Prints the path of a Firefox that is installed.
installed_firefox() { first_that_runs ${NPROF_FIREFOX:+"$NPROF_FIREFOX"} firefox-esr firefox; }

# Prints the path of a Firefox that the browser tests can drive, after installing one where the distribution has it as a
# package. Fails elsewhere: its tests are skipped then.
need_firefox() {
    if ! installed_firefox >/dev/null; then need_commands firefox-esr >&2 || return 1; fi
    installed_firefox
}

# Whether the distribution has a package.
is_package() {
    # Not `grep -q`: it stops reading, and the pipe would fail with the writer.
    apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [0-9]' >/dev/null
}

# Whether Chromium is missing and the distribution has it.
chromium_is_package() { ! installed_chromium >/dev/null && is_package chromium; }

# Prints the path of a Chromium that the browser tests can drive, after installing one where there is none.
need_chromium() {
    if chromium_is_package; then need_commands chromium >&2; fi
    installed_chromium && return
    say "Installing Chromium by Playwright" >&2
    (cd "$ROOT/tests/browser" && npx playwright-core install chromium >&2 </dev/null) ||
        die "no Chromium; install one and name it:  NPROF_CHROMIUM=/path/to/chromium scripts/test.sh"
    (cd "$ROOT/tests/browser" && node -p 'require("playwright-core").chromium.executablePath()')
}

# Prints the path of Chromium's headless shell, after installing it where the distribution has it as a package. Fails
# elsewhere. The shell is Chromium without its windows: the same tests take two thirds of the time.
need_headless_shell() {
    if ! has chromium-headless-shell; then
        is_package chromium-headless-shell || return 1
        need_commands chromium-headless-shell >&2
    fi
    command -v chromium-headless-shell
}
