//! `nprof serve`

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use nprof_engine::native::start_threads;
use rustix::io::Errno;

use super::StorePlace;
use crate::child::IngestProcess;
use crate::http::access::{Changes, host_name};
use crate::links::Links;
use crate::listener::{ListenAddress, Listening};
use crate::store::Store;

const EXAMPLES: &str = "\
Examples:
  nprof serve                        all profiles, at http://localhost:3001/
  nprof serve --open                 the same, and open a browser
  nprof serve --store /data/nprof --port 8080
  nprof serve --host 0.0.0.0         other machines can read, with the token of the printed link";

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
    /// Address to listen on, such as 0.0.0.0 for other machines too; they need the token of the
    /// printed link [default: this machine only]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<IpAddr>,
    /// Answer to this host name too, for example that of a proxy; localhost and IP addresses need
    /// no option
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    allow_name: Vec<String>,
    /// With --host: other machines can also upload and delete, if they have the token
    #[arg(long)]
    allow_changes: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
}

impl PlaceArgs {
    /// Returns true if the command must open a browser.
    pub(super) fn opens(&self) -> bool {
        self.open
    }

    pub(super) fn place(&self) -> ListenAddress {
        let changes = if self.allow_changes { Changes::All } else { Changes::SameUser };
        ListenAddress { host: self.host, port: self.port, names: self.allow_name.clone(), changes }
    }
}

impl ServeArgs {
    pub(super) fn run(self, store: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = Arc::new(store.open_or_read()?);
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
    start_threads()?;
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
    let process = IngestProcess::of_this_program().context("the path of the program is not known")?;
    let links = Links::of(&listening);
    // The server must go on after its reader closes the pipe, as in `nprof serve | head -1`, and
    // with a closed standard output.
    match announce(&links, slug, out)
        .and_then(|()| writeln!(out, "ctrl-c to exit"))
        .and_then(|()| out.flush())
    {
        Err(error) if ![Some(Errno::PIPE), Some(Errno::BADF)].contains(&Errno::from_io_error(&error)) => {
            return Err(error.into());
        }
        _ => {}
    }
    if !listening.address().ip().is_loopback() {
        warn_of_other_machines(&listening)?;
    }
    if args.open {
        open_browser(&links, slug);
    }
    listening.serve(store, process).await;
    Ok(())
}

pub(super) fn announce(links: &Links, slug: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    if slug.is_some() {
        for link in links.to(slug) {
            writeln!(out, "View profile at {link}")?;
        }
    }
    for link in links.to(None) {
        writeln!(out, "View a list of profiles at {link}")?;
    }
    out.flush()
}

fn warn_of_other_machines(listening: &Listening) -> io::Result<()> {
    let can = match listening.access().changes {
        Changes::All => "read, upload and delete all profiles",
        Changes::SameUser => "read all profiles",
    };
    writeln!(
        io::stderr(),
        "warning: other machines reach this server; everybody who has the link can {can}. The connection is \
         not encrypted: docs/security.md tells how to add TLS."
    )
}

/// Opens a browser. A failure is not an error, because the address has been printed.
pub(super) fn open_browser(links: &Links, slug: Option<&str>) {
    let Some(link) = links.without_token(slug) else {
        tracing::warn!(
            "open the printed link yourself: other users of this machine would see its token here"
        );
        return;
    };
    // Some programs return when the browser is closed.
    std::thread::spawn(move || {
        let chosen = std::env::var("BROWSER").ok().filter(|browser| !browser.is_empty());
        let opened = match chosen {
            Some(browser) => open::with(&link, browser),
            None => open::that(&link),
        };
        if let Err(error) = opened {
            tracing::warn!("cannot open a browser ({error}); open {link} in a browser yourself");
        }
    });
}
