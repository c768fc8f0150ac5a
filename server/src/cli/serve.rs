//! `nprof serve`

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use nprof_engine::wire::percent::percent_encoded;

use super::StorePlace;
use crate::server::{Listening, Place};
use crate::store::Store;

const EXAMPLES: &str = "\
Examples:
  nprof serve                        all profiles, at http://localhost:3001/
  nprof serve --open                 the same, and open a browser
  nprof serve --store /data/nprof --port 8080
  nprof serve --host 0.0.0.0         open to other machines, without a password";

/// Serve the profiles of a store over HTTP
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

/// Address options, for every command that serves.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArgs {
    /// Port to listen on; 0 selects a free port
    #[arg(long, default_value_t = 3001)]
    port: u16,
    /// Address to listen on, such as 0.0.0.0 for other machines too [default: this machine only]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<IpAddr>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
}

impl PlaceArgs {
    /// Returns true if the command must open a browser.
    pub(super) fn opens(&self) -> bool {
        self.open
    }

    pub(super) fn place(&self) -> Place {
        Place { host: self.host, port: self.port }
    }
}

impl ServeArgs {
    pub(super) fn run(self, store: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = Arc::new(store.open()?);
        block_on(async {
            let listening = self.place.place().listen().await?;
            serve(listening, store, None, &self.place, out).await
        })
    }
}

/// Time for questions and ingests to end when the server ends. Work that is cancelled ends sooner.
/// The next command that opens the store clears what is left.
const LAST_WORK: Duration = Duration::from_secs(1);

/// Runs a server on threads of its own. Work that goes on after its end is given up.
pub(super) fn block_on(server: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(server);
    runtime.shutdown_timeout(LAST_WORK);
    served
}

/// Prints where the profiles are, then answers requests until a signal ends the server. Scripts
/// around neuron-profile look for this wording.
pub(super) async fn serve(
    listening: Listening,
    store: Arc<Store>,
    slug: Option<&str>,
    args: &PlaceArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let url = listening.url();
    // The server must go on after its reader closes the pipe, as in `nprof serve | head -1`.
    match announce(&url, slug, out).and_then(|()| writeln!(out, "ctrl-c to exit")).and_then(|()| out.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    if args.open {
        open_browser(&slug.map_or_else(|| format!("{url}/"), |slug| profile_url(&url, slug)));
    }
    Ok(listening.serve(store).await?)
}

pub(super) fn announce(url: &str, slug: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(slug) = slug {
        writeln!(out, "View profile at {}", profile_url(url, slug))?;
    }
    writeln!(out, "View a list of profiles at {url}/")?;
    out.flush()
}

/// The URL of a profile, in ASCII: terminals end a link at other letters.
pub(super) fn profile_url(url: &str, slug: &str) -> String {
    format!("{url}/profile/{}", percent_encoded(slug))
}

/// Opens a browser. A failure is not an error, because the address has been printed.
pub(super) fn open_browser(url: &str) {
    if let Err(error) = webbrowser::open(url) {
        tracing::warn!("cannot open a browser ({error}); open {url} in a browser yourself");
    }
}
