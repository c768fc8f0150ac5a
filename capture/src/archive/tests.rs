//! Containers of every kind: nested, truncated, damaged and hostile.

use super::fixture::{EntryHeader, deflated, gzip, packed_by, tar, tar_of_kinds, zip, zip_of_many, zstd};
use super::*;
use crate::error::Error;
use crate::formats::neff::fixture as neff;
use crate::importer::FileRole;

const TRACE: &[u8] = br#"{"traceEvents":[{"ph":"X","ts":1,"dur":2,"name":"a"}]}"#;

fn opened(name: &str, bytes: Vec<u8>) -> OpenedFile {
    open(name, FileBytes::new(Arc::new(bytes)), &InMemory)
}

fn unpacked(leaf: &PlainFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    leaf.reader().read_to_end(&mut bytes).unwrap();
    bytes
}

fn refusal(leaf: &PlainFile) -> String {
    match &leaf.candidate.found {
        FileKind::Refused(refusal) => Error::from(refusal.clone()).to_string(),
        found => format!("{found:?}"),
    }
}

/// Checks that the file opens to traces of these names and nothing else.
#[track_caller]
fn check(name: &str, bytes: Vec<u8>, expected: &[&str]) {
    let opened = opened(name, bytes);
    let names: Vec<&str> = opened.leaves.iter().map(|leaf| leaf.candidate.name.as_str()).collect();
    assert_eq!(names, expected, "{name}");
    for leaf in &opened.leaves {
        assert!(
            leaf.candidate.claim(FileRole::Trace).is_some(),
            "{}: {}",
            leaf.candidate.name,
            refusal(leaf)
        );
        assert_eq!(unpacked(leaf), TRACE);
    }
    assert_eq!(opened.is_archive, expected != [name]);
}

/// Checks that the file opens to at least one refusal with this text.
#[track_caller]
fn check_refused(name: &str, bytes: Vec<u8>, expected: &str) {
    let opened = opened(name, bytes);
    let said: Vec<String> =
        opened.leaves.iter().map(|leaf| format!("{}: {}", leaf.candidate.name, refusal(leaf))).collect();
    assert!(said.iter().any(|said| said.contains(expected)), "{expected}: {said:?}");
}

#[test]
fn one_file_in_a_packing_keeps_its_name() {
    check("a.json", TRACE.to_vec(), &["a.json"]);
    check("a.gz", gzip(TRACE), &["a.gz"]);
    check("a", zstd(TRACE), &["a"]);
    check("two members", [gzip(&TRACE[..9]), gzip(&TRACE[9..])].concat(), &["two members"]);
    check("two frames", [zstd(&TRACE[..9]), zstd(&TRACE[9..])].concat(), &["two frames"]);
    check("a.gz.zst", zstd(&gzip(TRACE)), &["a.gz.zst"]);
}

#[test]
fn an_archive_gives_its_files() {
    let two: [(&str, &[u8]); 2] = [("x/rank_0.json", TRACE), ("rank_1.json", TRACE)];
    let names = |of: &str| two.map(|(name, _)| format!("{of}/{name}"));
    for (name, bytes) in
        [("a.tar", tar(&two)), ("a.zip", zip(&two)), ("a.tgz", gzip(&tar(&two))), ("b", zstd(&tar(&two)))]
    {
        check(name, bytes, &names(name).each_ref().map(String::as_str));
    }
    check("a.zip", deflated("t.json", TRACE, crc32fast::hash(TRACE)), &["a.zip/t.json"]);
    check(
        "a.zip",
        packed_by(93, "t.json", &zstd(TRACE), EntryHeader { len: TRACE.len(), crc: crc32fast::hash(TRACE) }),
        &["a.zip/t.json"],
    );
}

#[test]
fn containers_may_lie_in_each_other() {
    check("a.zip", zip(&[("t.json.gz", &gzip(TRACE))]), &["a.zip/t.json.gz"]);
    check("a.tar.gz", gzip(&tar(&[("t.json.gz", &gzip(TRACE))])), &["a.tar.gz/t.json.gz"]);
    check("a.tar", tar(&[("b.zip", &zip(&[("t.json", TRACE)]))]), &["a.tar/b.zip/t.json"]);
    let deep = zip(&[("b.tar.gz", &gzip(&tar(&[("t", TRACE)])))]);
    check("a.zip", deep.clone(), &["a.zip/b.tar.gz/t"]);
    check_refused("c.gz", gzip(&deep), "compressed or archived more than 3 times");
}

#[test]
fn a_program_is_no_archive() {
    for (name, bytes) in [("a.neff", neff::gzip(&neff::members())), ("b", neff::members())] {
        let opened = opened(name, bytes);
        assert!(!opened.is_archive);
        assert!(opened.leaves[0].candidate.claim(FileRole::Model).is_some());
    }
}

#[test]
fn files_that_systems_put_beside_traces_are_no_entries() {
    let bytes = zip(&[("__MACOSX/._t.json", b"x"), (".DS_Store", b"y"), ("d/", b""), ("t.json", TRACE)]);
    check("a.zip", bytes, &["a.zip/t.json"]);
}

#[test]
fn names_of_entries_are_shown_and_lead_nowhere() {
    let bytes =
        zip(&[("../../etc/rank_1\n.json", TRACE), ("C:\\x\\..\\t.json", TRACE), ("/root.json", TRACE)]);
    let names = ["a.zip/etc/rank_1\u{fffd}.json", "a.zip/C:/x/t.json", "a.zip/root.json"];
    check("a.zip", bytes, &names);
}

#[test]
fn a_cut_packing_is_read_up_to_the_cut() {
    let text: Vec<u8> =
        (0..20_000).flat_map(|n| format!("{{\"ph\":\"X\",\"ts\":{n}}},").into_bytes()).collect();
    let text = [b"[", &text[..]].concat();
    for packed in [gzip(&text), zstd(&text), deflated("t.json", &text, crc32fast::hash(&text))] {
        let whole = opened("t", packed).leaves.remove(0);
        let leaf = PlainFile { packed: whole.packed.part(0, whole.packed.len() as u64 / 2), ..whole };
        let mut reader = leaf.reader();
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        let damage = reader.damage().unwrap();
        // The decoder can still hold the last bytes.
        assert!(read.len() < text.len() && text.starts_with(&read), "{damage:?}");
        assert_eq!(damage.unpacked_len, read.len() as u64);
    }
}

#[test]
fn a_cut_tar_gives_the_files_before_the_cut() {
    let bytes = tar(&[("a.json", TRACE), ("b.json", &TRACE.repeat(20))]);
    let cut = opened("x.tar", bytes[..512 + 512 + 512 + 100].to_vec());
    let names: Vec<&str> = cut.leaves.iter().map(|leaf| leaf.candidate.name.as_str()).collect();
    assert_eq!(names, ["x.tar/a.json", "x.tar/b.json", "x.tar"]);
    assert_eq!(
        refusal(&cut.leaves[2]),
        "the tar archive ends in the middle of \"b.json\" (entry 1, byte 1636); the file is damaged or was \
         cut off; copy it again"
    );
    check_refused(
        "x.tar.gz",
        {
            let packed = gzip(&bytes);
            packed[..packed.len() - 30].to_vec()
        },
        "of the unpacked file",
    );
}

#[test]
fn damage_is_said_with_its_place() {
    check_refused("a.gz", vec![0x1f, 0x8b, 8, 0, 1, 2, 3], "starts like gzip but cannot be unpacked");
    check_refused(
        "a.zst",
        b"\x28\xb5\x2f\xfd\xff\xff\xff".to_vec(),
        "starts like zstd but cannot be unpacked",
    );
    check_refused("a.zip", b"PK\x03\x04 and nothing else".to_vec(), "a.zip: the zip archive cannot be read");
    let zip = zip(&[("t.json", TRACE)]);
    check_refused("a.zip", zip[..zip.len() - 10].to_vec(), "cannot be read");
    let method = packed_by(14, "t.json", b"lzma", EntryHeader { len: 4, crc: 0 });
    check_refused(
        "a.zip",
        method,
        "a.zip/t.json: this entry is compressed by a method that nprof does not read",
    );
    let mut encrypted = zip.clone();
    let at = encrypted.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    encrypted[at + 8] |= 1;
    check_refused(
        "a.zip",
        encrypted,
        "a.zip/t.json: this entry is encrypted (entry 0); unpack the archive with its password",
    );
}

/// A zip with an entry that is stored, or packed by another method, with a checksum.
fn stated(method: u16, packed: &[u8], crc: u32) -> Vec<u8> {
    packed_by(method, "t.json", packed, EntryHeader { len: TRACE.len(), crc })
}

#[test]
fn an_entry_of_a_zip_is_compared_with_its_checksum_however_it_is_packed() {
    let (right, packed) = (crc32fast::hash(TRACE), zstd(TRACE));
    for (crc, is_damaged) in [(right, false), (right ^ 1, true)] {
        for zip in [deflated("t.json", TRACE, crc), stated(0, TRACE, crc), stated(93, &packed, crc)] {
            let leaf = opened("a.zip", zip).leaves.remove(0);
            let mut reader = leaf.reader();
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            assert_eq!(read, TRACE);
            assert_eq!(reader.damage().is_some_and(|damage| damage.what.contains("checksum")), is_damaged);
            if let Some(plain) = leaf.plain() {
                assert_eq!(*plain, *TRACE);
                assert_eq!(leaf.damage(), reader.damage().cloned(), "both ways say the same");
            }
        }
    }
    let tar = tar(&[("t.json", TRACE)]);
    let nested = |crc: u32| packed_by(0, "b.tar", &tar, EntryHeader { len: tar.len(), crc });
    check("a.zip", nested(crc32fast::hash(&tar)), &["a.zip/b.tar/t.json"]);
    check_refused("a.zip", nested(7), "a.zip/b.tar: its checksum differs");
    assert_eq!(opened("a.zip", nested(7)).leaves.len(), 2, "its files are there");
}

#[test]
fn headers_of_a_tar_name_the_next_file() {
    let name = format!("{}/rank_3.json", "n".repeat(300));
    let long = (b'L', "@", [name.as_bytes(), b"\0"].concat());
    let pax = |text: &str| {
        // The length counts its own digits.
        let len = text.len() + if text.len() < 96 { 4 } else { 5 };
        (b'x', "@", format!("{len} {text}\n").into_bytes())
    };
    let (path, size) = (pax(&format!("path={name}")), pax(&format!("size={:0>9}", TRACE.len())));
    let link = (b'K', "@", b"elsewhere\0".to_vec());
    let global = (b'g', "@", vec![b'g'; 100_000]);
    let of = |before: &[&(u8, &'static str, Vec<u8>)]| {
        let mut members: Vec<(u8, &str, &[u8])> =
            before.iter().map(|(kind, name, content)| (*kind, *name, &content[..])).collect();
        members.push((b'0', "short.json", TRACE));
        members.push((b'0', "next.json", TRACE));
        tar_of_kinds(&members)
    };
    let named = format!("a.tar/{name}");
    check("a.tar", of(&[&long]), &[&named, "a.tar/next.json"]);
    check("a.tar", of(&[&path]), &[&named, "a.tar/next.json"]);
    check("a.tar", of(&[&global, &link, &size]), &["a.tar/short.json", "a.tar/next.json"]);
    check_refused("a.tar", tar_of_kinds(&[(long.0, long.1, &long.2)]), "behind a header about the next file");
}

#[test]
fn a_length_of_a_tar_can_be_in_a_header_before() {
    let text = format!("size={}", TRACE.len());
    let pax = format!("{} {text}\n", text.len() + 4);
    let mut bytes = tar_of_kinds(&[(b'x', "@", pax.as_bytes()), (b'0', "t.json", TRACE)]);
    let mut header = ::tar::Header::from_byte_slice(&bytes[1024..1536]).clone();
    header.set_size(0);
    header.set_cksum();
    bytes[1024..1536].copy_from_slice(header.as_bytes());
    check("a.tar", bytes, &["a.tar/t.json"]);
}

#[test]
fn headers_of_a_tar_that_are_too_long_are_not_read() {
    let long = vec![b'n'; (64 << 10) + 1];
    for kind in *b"LKx" {
        let bytes = tar_of_kinds(&[(b'0', "a.json", TRACE), (kind, "@", &long), (b'0', "b.json", TRACE)]);
        check_refused("x.tar", bytes.clone(), "a header of 65537 bytes about the next file, at byte 1024");
        assert_eq!(opened("x.tar", bytes).leaves[0].candidate.name, "x.tar/a.json");
    }
}

#[test]
fn a_sparse_file_of_a_tar_is_stepped_over() {
    let mut sparse = ::tar::Header::new_gnu();
    sparse.set_entry_type(::tar::EntryType::GNUSparse);
    sparse.set_path("hole").unwrap();
    sparse.set_size(512);
    sparse.as_gnu_mut().unwrap().set_is_extended(true);
    sparse.set_cksum();
    let mut map = ::tar::GnuExtSparseHeader::new();
    map.set_is_extended(true);
    let last = ::tar::GnuExtSparseHeader::new();
    let rest = tar_of_kinds(&[(b'0', "t.json", TRACE)]);
    let bytes = [&sparse.as_bytes()[..], map.as_bytes(), last.as_bytes(), &[1; 512], &rest].concat();
    let leaves = opened("a.tar", bytes.clone()).leaves;
    let names: Vec<&str> = leaves.iter().map(|leaf| leaf.candidate.name.as_str()).collect();
    assert_eq!(names, ["a.tar/hole", "a.tar/t.json"]);
    check_refused("a.tar", bytes, "a.tar/hole: this is a sparse file of a tar archive");
}

#[test]
fn the_end_of_a_zip_states_how_many_entries_are_read() {
    check("a.zip", zip_of_many("t.json", TRACE, 1), &["a.zip/t.json"]);
    for entries in [limit::MAX_ENTRIES as u64 + 1, u64::MAX] {
        check_refused("a.zip", zip_of_many("t.json", TRACE, entries), "has more than 65536 files");
    }
}

#[test]
fn all_archives_together_have_a_limited_number_of_files() {
    let some = |count: usize, name: &dyn Fn(usize) -> String| {
        let names: Vec<String> = (0..count).map(name).collect();
        tar(&names.iter().map(|name| (name.as_str(), &b""[..])).collect::<Vec<_>>())
    };
    let short = some(30_000, &|at| format!("{at}.json"));
    let three = ["a.tar", "b.tar", "c.tar"].map(|name| (name, &short[..]));
    let opened = opened("x.tar", tar(&three));
    let refused = opened.leaves.iter().filter(|leaf| refusal(leaf).contains("more than 65536 files"));
    assert_eq!(refused.count(), 1);
    assert_eq!(opened.leaves.len(), limit::MAX_ENTRIES - 3 + 1, "an archive is a file of its archive");
    // Each file has the names of the archives around it.
    let long = some(10_000, &|at| format!("{at}.json"));
    let name = "n".repeat(90);
    let deep = tar(&[(&name, &tar(&[(&name, &long)]))]);
    check_refused(&"n".repeat(2_000), deep, "more than 16777216 bytes of names");
}

#[test]
fn a_bomb_ends_at_its_limit() {
    let packed = gzip(&vec![b' '; 1 << 20]);
    let leaf = opened("a.gz", packed.clone()).leaves.remove(0);
    let mut reader = leaf.reader();
    reader.limit(1 << 16);
    let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("unpacks to more than 65536 bytes"), "{error}");
    assert_eq!(limit::spooled(10), 1 << 30);
    assert_eq!(limit::spooled(u64::MAX), limit::MAX_SPOOLED);
    assert_eq!(limit::streamed(1 << 30), 10_000 << 30);
}

/// Counts what is unpacked, and keeps nothing of it.
struct Counting {
    allowance: DiskAllowance,
    kept_bytes: std::cell::Cell<u64>,
}

impl Spool for Counting {
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<SharedBytes> {
        let kept = io::copy(unpacked, &mut io::sink());
        self.kept_bytes.set(self.kept_bytes.get() + kept.as_ref().unwrap_or(&0));
        kept?;
        Ok(Arc::new(Vec::<u8>::new()))
    }

    fn allowance(&self) -> Option<&DiskAllowance> {
        Some(&self.allowance)
    }
}

#[test]
fn archives_in_an_archive_share_its_allowance() {
    let inner = zstd(&tar(&[("a.json", &[b' '; 1 << 20])]));
    let names: Vec<String> = (0..32).map(|at| format!("{at}.tar.zst")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &inner[..])).collect();
    let outer = zip(&entries);
    let spool = Counting { allowance: DiskAllowance::of(1 << 20), kept_bytes: 0.into() };
    let opened = open("x.zip", FileBytes::new(Arc::new(outer.clone())), &spool);
    let most = (1 << 20) + 1_100 * outer.len() as u64;
    assert!(most < 28 << 20, "the archives unpack to more: {most}");
    assert!(spool.kept_bytes.get() <= most, "{} of {most}", spool.kept_bytes.get());
    assert_eq!(spool.allowance.left(), 0, "the last one found it used up");
    let refused = opened.leaves.iter().filter(|leaf| refusal(leaf).contains("unpacks to more than")).count();
    assert!((4..32).contains(&refused), "{refused}");
}

/// Is cancelled after some archives.
struct Cancelled(std::cell::Cell<usize>);

impl Spool for Cancelled {
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<SharedBytes> {
        self.0.set(self.0.get() + 1);
        InMemory.keep(unpacked)
    }

    fn is_cancelled(&self) -> bool {
        self.0.get() > 1
    }
}

#[test]
fn nothing_more_is_opened_after_a_cancellation() {
    let inner = gzip(&tar(&[("a.json", TRACE)]));
    let outer = zip(&["0.tgz", "1.tgz", "2.tgz", "3.tgz"].map(|name| (name, &inner[..])));
    let spool = Cancelled(0.into());
    let _opened = open("x.zip", FileBytes::new(Arc::new(outer)), &spool);
    assert_eq!(spool.0.get(), 2);
}

#[test]
fn entries_that_share_their_bytes_are_refused() {
    let mut bytes = zip(&[("a.json", TRACE), ("b.json", TRACE)]);
    // The second entry points to the first one's bytes and claims the length of the whole archive.
    let len = u32::try_from(bytes.len()).unwrap();
    let second = bytes.windows(4).rposition(|found| found == b"PK\x01\x02").unwrap();
    bytes[second + 20..second + 24].copy_from_slice(&len.to_le_bytes());
    check_refused("a.zip", bytes, "claim more bytes than the archive has");
}

#[test]
fn any_cut_or_damaged_byte_ends_without_a_panic() {
    let two: [(&str, &[u8]); 2] = [("x/rank_0.json", TRACE), ("rank_1.json.gz", &gzip(TRACE))];
    let samples = [gzip(TRACE), zstd(TRACE), zip(&two), tar(&two), gzip(&tar(&two)), deflated("t", TRACE, 7)];
    for packed in samples {
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x41;
            for bytes in [packed[..at].to_vec(), damaged] {
                for leaf in opened("x", bytes).leaves {
                    let _ = leaf.reader().read_to_end(&mut Vec::new());
                }
            }
        }
    }
}
