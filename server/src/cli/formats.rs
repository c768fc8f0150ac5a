//! The values of `--format`, and the flags that go with some formats, from the table of exports.

use std::io::{self, Write};

use anyhow::bail;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::export::{Choice, EXPORTS, Export, ExportChoices, find};

/// Flags that go with some formats.
#[derive(Debug, Args)]
pub(super) struct ChoiceArgs {
    /// Arrows between slices, in a Perfetto trace
    #[arg(long)]
    show_perfetto_flows: bool,
    /// Only this table, as CSV: a table of the JSON export that the trace has [default: all slices]
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
}

impl ChoiceArgs {
    /// These choices and `more` for this format; `None` is the store. A note says that arrows are
    /// ignored by other formats.
    ///
    /// # Errors
    /// If another choice does not go with the format.
    pub(super) fn choices(
        &self,
        more: ExportChoices,
        format: Option<&Export>,
    ) -> anyhow::Result<ExportChoices> {
        let table = self.table.clone();
        let mut choices = ExportChoices { has_flows: self.show_perfetto_flows, table, ..more };
        let foreign = |choices: &ExportChoices| match format {
            Some(format) => format.foreign(choices),
            None => choices.made().next(),
        };
        while let Some(choice) = foreign(&choices) {
            let (flag, formats) = (choice.flag(), choice.formats());
            if choice != Choice::Flows {
                bail!("{flag} goes with --format {formats} alone");
            }
            // Scripts for neuron-profile pass this flag with every format.
            writeln!(io::stderr(), "{flag} is ignored: it goes with the format {formats}")?;
            choices.has_flows = false;
        }
        Ok(choices)
    }
}

/// Reads the key of a format.
pub(super) fn format_parser() -> impl TypedValueParser<Value = &'static Export> {
    PossibleValuesParser::new(values()).try_map(|word| find(&word).ok_or("this is no format"))
}

/// A format, or `None` for the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct FormatChoice(pub Option<&'static Export>);

/// Reads the key of a format, or `db`.
pub(super) fn target_parser() -> impl TypedValueParser<Value = FormatChoice> {
    let store = PossibleValue::new("db").help("Into the store, to be looked at in a browser");
    PossibleValuesParser::new(std::iter::once(store).chain(values())).map(|word| FormatChoice(find(&word)))
}

fn values() -> impl Iterator<Item = PossibleValue> {
    EXPORTS.iter().map(|export| PossibleValue::new(export.key).help(export.doc))
}
