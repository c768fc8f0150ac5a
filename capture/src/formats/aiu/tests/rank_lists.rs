//! Lists of several ranks, with and without notes of the first pass for the others.

use std::io::Write;
use std::sync::OnceLock;

use super::*;
use crate::archive::PlainFile;
use crate::archive::unpack::EarlyEnd;
use crate::files::Take;
use crate::owners::Owners;

/// Files that keep what the first pass notes.
struct Keeping {
    files: MemoryFiles,
    owners: Vec<OnceLock<Owners>>,
}

impl Files for Keeping {
    fn leaf(&self, file: usize) -> &PlainFile {
        self.files.leaf(file)
    }

    fn whole(&self, file: usize) -> Result<FileBytes, Error> {
        self.files.whole(file)
    }

    fn stream(&self, file: usize, take: Take<'_>) -> Result<Option<EarlyEnd>, Error> {
        self.files.stream(file, take)
    }

    fn owners(&self, file: usize) -> Option<&OnceLock<Owners>> {
        self.owners.get(file)
    }
}

fn keeping(files: MemoryFiles) -> Keeping {
    let owners = files.0.iter().map(|_| OnceLock::new()).collect();
    Keeping { files, owners }
}

/// An item of a list: its kind, process, thread and length.
type Item = (usize, u32, u32, i64);

/// The text of an item that starts at this time.
fn text((kind, pid, tid, duration): Item, start: i64) -> String {
    let slice = Device::new(560e6, 7).slice(["a Cmpt Exec", "b DmaI"][kind % 2], start, start + duration);
    let event = match kind {
        0 | 1 => slice.complete(),
        2 | 3 => format!("{},\n{}", slice.begin(), slice.end()),
        4 => slice.begin(),
        5 => slice.end(),
        6 => format!(r#"{{"ph":"i","name":"mark","pid":0,"tid":1,"ts":{start}}}"#),
        7 => format!(r#"{{"ph":"X","name":"call","pid":0,"tid":1,"ts":{start},"dur":{duration}}}"#),
        8 => r#"{"ph":"M","name":"process_name","pid":0,"args":{"name":"host"}}"#.to_owned(),
        // Items that are no events.
        9 => duration.to_string(),
        _ => r#"{"ph":"#.to_owned(),
    };
    event.replace("\"pid\":0", &format!("\"pid\":{pid}")).replace("\"tid\":1", &format!("\"tid\":{tid}"))
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let kind = prop_oneof![30 => 0_usize..9, 1 => 9_usize..11];
    // Events of a process often follow each other.
    let run = (0_u32..4, 1_usize..40);
    let item = (kind, 1_u32..4, 1_i64..40);
    let run = run.prop_flat_map(move |(pid, len)| {
        let one = item.clone().prop_map(move |(kind, tid, duration)| (kind, pid, tid, duration));
        prop::collection::vec(one, len)
    });
    prop::collection::vec(run, 1..50).prop_map(|runs| runs.concat())
}

/// All that the reader said.
fn contents(rank: &Recorder) -> String {
    let Recorder { tables, fields, tracks, slices, samples, rows, links, flow_points, rank: info, .. } = rank;
    let warnings = rank.warnings();
    format!(
        "{tables:?} {fields:?} {tracks:?} {slices:?} {samples:?} {rows:?} {links:?} {flow_points:?} {info:?} {warnings:?}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Each rank is the same whether its pass parses all events or leaves out those of the others.
    #[test]
    fn notes_of_the_first_pass_change_nothing(items in items(), is_packed: bool) {
        let texts: Vec<String> = (0..).zip(&items).map(|(n, item)| text(*item, 50 * n)).collect();
        let list = format!("[{},\n{}]", text((0, 0, 1, 9), 1), texts.join(",\n")).into_bytes();
        let file = if is_packed {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(&list).unwrap();
            ("a.json.gz", packed.finish().unwrap())
        } else {
            ("a.json", list)
        };
        let settings = AiuSettings::default();
        let all = read_through(std::slice::from_ref(&file), &settings, |files| files);
        let noted = read_through(&[file], &settings, keeping);
        prop_assert_eq!(all.len(), noted.len());
        for (all, noted) in all.iter().zip(&noted) {
            prop_assert_eq!(shown(all), shown(noted));
            prop_assert_eq!(contents(all), contents(noted));
        }
    }
}
