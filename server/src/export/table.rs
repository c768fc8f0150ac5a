//! The formats that nprof writes, as a table. The command line, the HTTP API and the page's menu
//! read it, so a format is one row here and one file or folder next to it.

use std::fmt;
use std::path::{Path, PathBuf};

use nprof_engine::exec::Work;

use super::html::{self, site};
use super::prepared_export::{Choice, ExportChoices, PreparedExport};
use super::{ExportError, RanksOf, csv, json, perfetto, summary};
use crate::work::Meter;

/// A format.
pub struct Export {
    /// Name on the command line and in URLs.
    pub key: &'static str,
    /// Name in the page's menu.
    pub title: &'static str,
    /// One sentence without a full stop, for the help and the menu.
    pub doc: &'static str,
    /// Ending of file names, without the dot. Empty for a folder.
    pub extension: &'static str,
    /// Media type of the file. Empty for a folder.
    pub media_type: &'static str,
    /// The file that `nprof view` writes if the user names none. `None` for standard output.
    pub view_file: Option<&'static str>,
    /// Why a terminal is no place for the format. `None` if it is text for people.
    pub not_on_terminal: Option<&'static str>,
    /// Choices that the format offers.
    pub choices: &'static [Choice],
    /// The extent of a file, and the function that writes it.
    pub scope: Scope,
}

/// The extent of a file.
#[derive(Clone, Copy)]
pub enum Scope {
    /// A file for each rank. On standard output, the function decides about several ranks.
    Rank(Prepare),
    /// One file for all ranks.
    Profile(Prepare),
    /// A folder for all ranks. Returns the bytes of all files.
    Folder(WriteFolder),
}

/// Reads what a file is made from. Errors occur here if possible, before any byte is written, and a
/// cancellation is heard.
pub type Prepare =
    for<'a> fn(RanksOf<'a>, &'a ExportChoices, Work<'_>) -> Result<PreparedExport<'a>, ExportError>;

/// Writes a folder. Returns the bytes of all files.
pub type WriteFolder = fn(RanksOf<'_>, &ExportChoices, &Path, &Meter) -> Result<u64, ExportError>;

/// All formats, in the order of the help and of the page's menu.
pub static EXPORTS: [Export; 7] = [
    Export {
        key: "html",
        title: "HTML file",
        doc: "The whole page with the profile inside: one file that a browser opens without nprof",
        extension: "html",
        media_type: "text/html; charset=utf-8",
        view_file: Some("ntff.html"),
        not_on_terminal: Some("an HTML file of a profile is too long for a terminal"),
        choices: &[Choice::MaxSize, Choice::View, Choice::Graph],
        scope: Scope::Profile(html::prepare),
    },
    Export {
        key: "perfetto",
        title: "Perfetto trace",
        doc: "A trace for ui.perfetto.dev and trace_processor; times are whole nanoseconds there",
        extension: "pftrace",
        media_type: "application/octet-stream",
        view_file: Some("ntff.pftrace"),
        not_on_terminal: Some("a Perfetto trace is no text for a terminal"),
        choices: &[Choice::Flows],
        scope: Scope::Profile(perfetto::prepare),
    },
    Export {
        key: "json",
        title: "JSON tables",
        doc: "All tables, as neuron-profile writes them, with exact times and tracks",
        extension: "json",
        media_type: "application/json",
        view_file: Some("ntff.json"),
        not_on_terminal: None,
        choices: &[],
        scope: Scope::Rank(json::prepare),
    },
    Export {
        key: "csv",
        title: "CSV table",
        doc: "All slices, or one table, with exact times and all fields; for spreadsheets and data frames",
        extension: "csv",
        media_type: "text/csv; charset=utf-8; header=present",
        view_file: Some("ntff.csv"),
        not_on_terminal: Some("a CSV table holds the texts of the trace unchanged, control characters too"),
        choices: &[Choice::Table],
        scope: Scope::Rank(csv::prepare),
    },
    Export {
        key: "summary-json",
        title: "Metrics as JSON",
        doc: "The metrics as JSON: `{\"n_<hash>\": {metric: value}}`",
        extension: "summary.json",
        media_type: "application/json",
        view_file: None,
        not_on_terminal: None,
        choices: &[],
        scope: Scope::Profile(summary::prepare_json),
    },
    Export {
        key: "summary-text",
        title: "Metrics as text",
        doc: "The metrics as a table of two columns",
        extension: "summary.txt",
        media_type: "text/plain; charset=utf-8",
        view_file: None,
        not_on_terminal: None,
        choices: &[],
        scope: Scope::Profile(summary::prepare_text),
    },
    Export {
        key: "site",
        title: "Folder of a web host",
        doc: "A folder for a static web host that serves parts of files (range requests): the page fetches \
              what it shows, however large the profile is",
        extension: "",
        media_type: "",
        view_file: None,
        not_on_terminal: None,
        choices: &[Choice::View, Choice::Graph],
        scope: Scope::Folder(site::write),
    },
];

/// The format with this key, in upper or lower case.
#[must_use]
pub fn find(key: &str) -> Option<&'static Export> {
    EXPORTS.iter().find(|export| export.key.eq_ignore_ascii_case(key))
}

/// The formats that are one file, so that a browser can download them.
pub fn files() -> impl Iterator<Item = &'static Export> {
    EXPORTS.iter().filter(|export| !matches!(export.scope, Scope::Folder(_)))
}

impl Export {
    /// The first choice of the user that this format does not offer.
    #[must_use]
    pub fn foreign(&self, choices: &ExportChoices) -> Option<Choice> {
        choices.made().find(|choice| !self.choices.contains(choice))
    }

    /// Returns true if each rank has a file of its own.
    #[must_use]
    pub fn is_per_rank(&self) -> bool {
        matches!(self.scope, Scope::Rank(_))
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl Choice {
    /// Keys of the formats that offer this choice, as text for messages.
    #[must_use]
    pub fn formats(self) -> String {
        let offer = EXPORTS.iter().filter(|export| export.choices.contains(&self));
        offer.map(|export| export.key).collect::<Vec<_>>().join(" or ")
    }
}

/// Path for one rank: `out.json` becomes `out_rank_3.json`.
#[must_use]
pub fn of_rank(path: &Path, rank: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}_rank_{rank}{}", extension.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_ranks_go_to_several_files() {
        assert_eq!(of_rank(Path::new("a/out.json"), 3), Path::new("a/out_rank_3.json"));
        assert_eq!(of_rank(Path::new("out"), 3), Path::new("out_rank_3"));
    }

    #[test]
    fn every_format_is_whole() {
        for export in &EXPORTS {
            let Export { key, title, doc, .. } = export;
            assert!(std::ptr::eq(find(&key.to_uppercase()).unwrap(), export), "{key} is there once");
            assert!(!title.is_empty() && !doc.is_empty() && !doc.ends_with('.'), "{key}");
            let is_folder = matches!(export.scope, Scope::Folder(_));
            assert_eq!(export.extension.is_empty(), is_folder, "{key}");
            assert_eq!(export.media_type.is_empty(), is_folder, "{key}");
        }
        let mut endings: Vec<&str> = files().map(|export| export.extension).collect();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), EXPORTS.len() - 1, "two downloads of a profile have one name");
    }

    #[test]
    fn choices_of_other_formats_are_found() {
        let choices = ExportChoices { max_bytes: Some(1), ..ExportChoices::default() };
        assert_eq!(find("html").unwrap().foreign(&choices), None);
        assert_eq!(find("json").unwrap().foreign(&choices), Some(Choice::MaxSize));
        assert_eq!(find("json").unwrap().foreign(&ExportChoices::default()), None);
        assert_eq!(Choice::MaxSize.formats(), "html");
        assert_eq!(Choice::View.formats(), "html or site");
    }
}
