//! Work that ends with the part of the page for which it is done.

use std::future::{Future, poll_fn};
use std::task::Poll;

use leptos::prelude::*;
use leptos::task::spawn_local;

/// Runs a task beside the page until it ends, or until the part of the page that owns `signal` is
/// gone. An answer can arrive after the user has left that part. Then nobody waits for it, and its
/// signals cannot be read.
pub fn spawn_while_shown(signal: impl WithUntracked + 'static, task: impl Future<Output = ()> + 'static) {
    let mut task = Box::pin(task);
    spawn_local(poll_fn(move |context| match signal.try_with_untracked(|_| ()) {
        None => Poll::Ready(()),
        Some(()) => task.as_mut().poll(context),
    }));
}
