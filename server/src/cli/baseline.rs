//! `nprof baseline`

use std::io::Write;

use clap::{Args, Subcommand};
use serde_json::json;

use super::StorePlace;
use super::answer::AnswerFormat;
use crate::print;
use crate::print::answer_keys::{version, with_counts};
use crate::store::{Baseline, Slug, Store};
use crate::terminal::visible;

const EXAMPLES: &str = "\
Examples:
  nprof baseline set main run-7              `nprof diff main run-8` compares with run-7 now
  nprof baseline                             all baselines
  nprof baseline remove main                 run-7 itself stays";

/// Name the runs that others are compared with
///
/// A baseline is a name that moves from run to run. All commands take it for the name of a profile.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct BaselineArgs {
    #[command(subcommand)]
    change: Option<BaselineChange>,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

#[derive(Debug, Subcommand)]
enum BaselineChange {
    /// Make a name mean a profile
    Set {
        /// Name of the baseline
        name: Slug,
        /// Name or id of a profile, as `nprof list` shows it
        profile: String,
    },
    /// Remove a baseline; its profile stays
    Remove {
        /// Name of the baseline
        name: String,
    },
}

impl BaselineArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        match &self.change {
            None => self.list(&place.read()?, out),
            Some(BaselineChange::Set { name, profile }) => {
                let store = place.open()?;
                let profile = store.find(profile)?;
                let before = store.set_baseline(name, &profile)?;
                let was = before.filter(|id| *id != profile.manifest.id);
                let was = was.map_or_else(String::new, |id| format!("; it was {}", name_of(&store, &id)));
                writeln!(out, "{} is {} now{was}", name.as_str(), profile.manifest.slug())?;
                Ok(())
            }
            Some(BaselineChange::Remove { name }) => {
                place.open()?.remove_baseline(name)?;
                writeln!(out, "removed the baseline {}", visible(name))?;
                Ok(())
            }
        }
    }

    fn list(&self, store: &Store, out: &mut dyn Write) -> anyhow::Result<()> {
        let all = store.baselines()?;
        let slug = |of: &Baseline| of.profile.as_ref().map(|profile| profile.manifest.slug().to_owned());
        match self.output_format {
            AnswerFormat::Json => {
                let one = |of: &Baseline| json!({"name": of.name, "profile": slug(of), "id": of.id});
                let mut document = with_counts(version(), all.len(), all.len());
                document.insert("baselines".to_owned(), all.iter().map(one).collect());
                print::json::document(&document, out)?;
            }
            AnswerFormat::Text if all.is_empty() => {
                writeln!(out, "no baselines; `nprof baseline set NAME PROFILE` names one")?;
            }
            AnswerFormat::Text => {
                let line = |of: &Baseline| match slug(of) {
                    Some(slug) => format!("{}  {slug}", of.name),
                    None => format!("{}  {}, which is no longer in the store", of.name, of.id),
                };
                print::lines(all.iter().map(line), out)?;
            }
        }
        Ok(())
    }
}

/// The name of a profile, or its id if the store no longer has it.
fn name_of(store: &Store, id: &str) -> String {
    match store.find(id) {
        Ok(profile) => profile.manifest.slug().to_owned(),
        Err(_) => id.to_owned(),
    }
}
