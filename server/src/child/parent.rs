//! The server's side: starts a child, watches it, ends it.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::message::{ChildMessage, ChildTask, InputsOutcome};
use super::{ARGUMENT, Limits};
use crate::child_end::ChildEnd;
use crate::ingest::{IngestError, Result};
use crate::work::Meter;

/// Time for a child to end after it closed its output, which happens when it ends.
const LAST_MOMENT: Duration = Duration::from_secs(5);

/// The program that ingests, and its limits.
#[derive(Debug, Clone)]
pub struct IngestProcess {
    /// A binary of this version of nprof.
    pub program: PathBuf,
    /// Limits of each child.
    pub limits: Limits,
}

impl IngestProcess {
    /// This program with the default limits.
    ///
    /// # Errors
    /// If the system does not know the path of the program.
    pub fn of_this_program() -> io::Result<Self> {
        // On Linux this name stays right after an upgrade has replaced the file.
        let program = match cfg!(target_os = "linux") {
            true => PathBuf::from("/proc/self/exe"),
            false => std::env::current_exe()?,
        };
        Ok(Self { program, limits: Limits::default() })
    }

    /// Lets a child carry out an order. The child is gone when this returns or is dropped.
    ///
    /// # Errors
    /// The child's refusal; the reason of its end if it ends without one; `Cancelled` as soon as
    /// `cancelled` returns.
    pub async fn run(
        &self,
        order: &ChildTask,
        meter: &Meter,
        cancelled: impl Future<Output = ()>,
    ) -> Result<InputsOutcome> {
        let order = order.to_bytes().map_err(IngestError::Start)?;
        let (mut child, stdin, stdout) = self.start().map_err(IngestError::Start)?;
        let done = tokio::select! {
            biased;
            () = cancelled => Err(IngestError::Cancelled),
            done = self.attend(&mut child, stdin, stdout, &order, meter) => done,
        };
        // A child that reported its end has nothing left to do.
        if let Err(error) = child.kill().await {
            tracing::debug!("the process of an ingest cannot be killed: {error}");
        }
        done
    }

    fn start(&self) -> io::Result<(Child, ChildStdin, ChildStdout)> {
        let mut command = Command::new(&self.program);
        command.arg0("nprof").arg(ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // Not in the server's group: a terminal sends Ctrl-C to the whole group, and the server
        // alone decides what it means.
        let mut child = command.process_group(0).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| io::Error::other("no pipes"))?;
        Ok((child, stdin, stdout))
    }

    /// Sends the order and waits for the outcome. The child ends when `stdin` is dropped.
    async fn attend(
        &self,
        child: &mut Child,
        mut stdin: ChildStdin,
        mut stdout: ChildStdout,
        order: &[u8],
        meter: &Meter,
    ) -> Result<InputsOutcome> {
        let talk = async {
            stdin.write_all(order).await?;
            stdin.flush().await?;
            loop {
                match ChildMessage::read(&mut stdout).await? {
                    ChildMessage::Progress(progress) => meter.show(progress),
                    ChildMessage::Done(told) => return io::Result::Ok(told),
                }
            }
        };
        match talk.await {
            Ok(told) => told.map_err(IngestError::Refused),
            Err(error) => {
                tracing::debug!("the process of an ingest sent no outcome: {error}");
                let status = tokio::time::timeout(LAST_MOMENT, child.wait()).await;
                let ended = status.ok().and_then(io::Result::ok);
                Err(IngestError::Ended(
                    ended.map_or(ChildEnd::Crashed, |of| ChildEnd::of(of, self.limits.memory_bytes)),
                ))
            }
        }
    }
}
