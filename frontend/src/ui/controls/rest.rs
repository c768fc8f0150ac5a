//! Values that are not followed at once, for what costs more than a frame has.

use std::time::Duration;

use leptos::leptos_dom::helpers::{TimeoutHandle, request_animation_frame, set_timeout_with_handle};
use leptos::prelude::*;

/// Length of a rest.
const REST: Duration = Duration::from_millis(300);
/// Time between two values that are followed.
const PACE: Duration = Duration::from_millis(150);

/// A value as it was when it rested last. The first one is there at once.
#[must_use]
pub fn rested<T: Clone + PartialEq + Send + Sync + 'static>(of: Memo<T>) -> Signal<T> {
    let follower = Follower::new(of);
    Effect::new(move |_| {
        of.track();
        follower.forget();
        follower.wait(REST, move || follower.rest());
    });
    follower.shown.into()
}

/// A value that is followed at once after a rest, and some times in a second while it changes.
#[must_use]
pub fn paced<T: Clone + PartialEq + Send + Sync + 'static>(of: Memo<T>) -> Signal<T> {
    let follower = Follower::new(of);
    Effect::new(move |_| {
        of.track();
        if !follower.is_waiting() {
            follower.keep_pace();
        }
    });
    follower.shown.into()
}

/// The value that is shown, and the time until the next one.
struct Follower<T: Send + Sync + 'static> {
    of: Memo<T>,
    shown: RwSignal<T>,
    waiting: StoredValue<Option<TimeoutHandle>>,
}

impl<T: Send + Sync> Clone for Follower<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync> Copy for Follower<T> {}

impl<T: Clone + PartialEq + Send + Sync> Follower<T> {
    fn new(of: Memo<T>) -> Self {
        let follower = Self { of, shown: RwSignal::new(of.get_untracked()), waiting: StoredValue::new(None) };
        on_cleanup(move || follower.forget());
        follower
    }

    fn is_waiting(self) -> bool {
        self.waiting.with_value(Option::is_some)
    }

    fn wait(self, time: Duration, then: impl Fn() + 'static) {
        let end = move || {
            self.waiting.try_update_value(Option::take);
            then();
        };
        self.waiting.set_value(set_timeout_with_handle(end, time).ok());
    }

    fn forget(self) {
        self.waiting.try_update_value(Option::take).flatten().iter().for_each(TimeoutHandle::clear);
    }

    /// Shows the value if the next frame leaves it as it is. After a frame that lasted longer than
    /// a rest, the move of the user that it held up is still to come.
    fn rest(self) {
        let before = self.of.try_get_untracked();
        request_animation_frame(move || {
            if self.of.try_get_untracked() == before {
                self.wait(Duration::ZERO, move || {
                    self.take();
                });
            }
        });
    }

    /// Shows the value as it is now. Returns false if it is shown already, or the view is gone.
    fn take(self) -> bool {
        let Some(now) = self.of.try_get_untracked() else { return false };
        if self.shown.try_with_untracked(|shown| *shown == now) != Some(false) {
            return false;
        }
        self.shown.try_set(now);
        true
    }

    /// Follows the value until it rests.
    fn keep_pace(self) {
        if self.take() {
            self.wait(PACE, move || self.keep_pace());
        }
    }
}
