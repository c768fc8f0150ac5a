#!/usr/bin/env bash
# Builds what ships: the binary with the small page, checked against the page's budget, tried with every command of the
# README, and packed with its manual, completions and licences into release/nprof-VERSION-HOST.tar.gz with a checksum.
#
# scripts/release.sh [FOLDER]: where the archive goes, release/ unless told otherwise.
set -euo pipefail
# shellcheck source=scripts/tools.sh
. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd "$ROOT"

OUT="${1:-release}"
TARGET="${CARGO_TARGET_DIR:-$ROOT/target}"
HOST="$(rustc -vV | sed -n 's/^host: //p')"
VERSION="$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"
[ -n "$VERSION" ] || die "Cargo.toml states no version"
NAME="nprof-$VERSION-$HOST"

need_writable
scripts/page.sh --small
need_about

say "Building nprof $VERSION"
cargo build --release --locked -p nprof-server --features ship

say "Trying every command of the README"
NPROF_BIN="$TARGET/release/nprof" cargo test --locked "${WORKSPACE[@]}" --test all -- readme::

say "Packing $NAME.tar.gz"
FOLDER="$(mktemp -d)"
trap 'rm -rf "$FOLDER"' EXIT
WHOLE="$FOLDER/$NAME"
mkdir -p "$WHOLE/completions" "$OUT"
install -m 755 "$TARGET/release/nprof" "$WHOLE/nprof"
cp README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT "$WHOLE"
"$WHOLE/nprof" man --into "$WHOLE/man"
for shell in bash zsh fish; do "$WHOLE/nprof" completions "$shell" >"$WHOLE/completions/nprof.$shell"; done
# The licences of all that is in the binary, the page's programs included.
cargo about generate --offline --locked --fail --workspace --manifest-path Cargo.toml \
    -o "$WHOLE/LICENSES-THIRD-PARTY.md" scripts/licences.hbs
# The same tree gives the same archive: sorted, and as old as its last commit.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct 2>/dev/null || echo 0)" \
    -C "$FOLDER" -cf - "$NAME" | gzip -n -9 >"$OUT/$NAME.tar.gz"
(cd "$OUT" && sha256sum "$NAME.tar.gz" >"$NAME.tar.gz.sha256")

say "Looking at the archive"
mkdir "$FOLDER/unpacked"
(cd "$OUT" && sha256sum --quiet -c "$NAME.tar.gz.sha256")
tar -C "$FOLDER/unpacked" -xzf "$OUT/$NAME.tar.gz"
[ "$("$FOLDER/unpacked/$NAME/nprof" --version)" = "nprof $VERSION" ] || die "the packed binary does not say its version"
say "Done: $OUT/$NAME.tar.gz, $(wc -c <"$OUT/$NAME.tar.gz") bytes"
