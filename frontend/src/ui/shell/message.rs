//! Messages about failures and successes, in a corner of the page. Screen readers read them aloud.
//!
//! Failures stay until they are closed or retried. Confirmations disappear by themselves.

use std::time::Duration;

use leptos::prelude::*;

use crate::ui::controls::{CloseButton, Glyph, Icon, keyed};

/// Least display time of a confirmation in milliseconds, and that of each letter of a long one.
const CONFIRMATION_MS: u64 = 4_000;
const LETTER_MS: u64 = 70;
/// Limit of messages: more would cover the page. The oldest is removed.
const MOST: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Good,
    Failed,
}

#[derive(Debug, Clone)]
struct Message {
    number: u32,
    tone: Tone,
    text: String,
    retry: Option<Callback<()>>,
}

/// The page's messages, as a context.
#[derive(Debug, Clone, Copy)]
pub struct Messages {
    shown: RwSignal<Vec<Message>>,
    next: StoredValue<u32>,
}

impl Messages {
    /// No messages.
    #[must_use]
    pub fn new() -> Self {
        Self { shown: RwSignal::new(Vec::new()), next: StoredValue::new(0) }
    }

    /// Adds a confirmation.
    pub fn confirm(self, text: impl Into<String>) {
        let text = text.into();
        let shown_ms = CONFIRMATION_MS.max(LETTER_MS * text.chars().count() as u64);
        let number = self.add(Tone::Good, text, None);
        set_timeout(move || self.close(number), Duration::from_millis(shown_ms));
    }

    /// Adds a failure with a button to retry.
    pub fn fail(self, text: impl Into<String>, retry: Option<Callback<()>>) {
        self.add(Tone::Failed, text.into(), retry);
    }

    fn add(self, tone: Tone, text: String, retry: Option<Callback<()>>) -> u32 {
        let number = self.next.get_value();
        self.next.set_value(number.wrapping_add(1));
        self.shown.update(|shown| {
            shown.retain(|message| message.text != text);
            if shown.len() == MOST {
                shown.remove(0);
            }
            shown.push(Message { number, tone, text, retry });
        });
        number
    }

    fn close(self, number: u32) {
        // The page can be gone when the time is over.
        self.shown.try_update(|shown| shown.retain(|message| message.number != number));
    }
}

impl Default for Messages {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the messages.
#[component]
pub fn MessageList() -> impl IntoView {
    let messages = expect_context::<Messages>();
    view! {
        <div class="messages" aria-live="polite" aria-relevant="additions">
            {keyed(
                move || messages.shown.get(),
                |message| message.number.to_string(),
                move |message| view! { <MessageView messages message /> }.into_any(),
            )}
        </div>
    }
}

#[component]
fn MessageView(messages: Messages, message: Message) -> impl IntoView {
    let Message { number, tone, text, retry } = message;
    let (class, role, glyph) = match tone {
        Tone::Good => ("message", "status", Glyph::Check),
        Tone::Failed => ("message message-error", "alert", Glyph::Warning),
    };
    let retry = retry.map(|retry| {
        let again = move |_| {
            messages.close(number);
            retry.run(());
        };
        view! { <button class="button-link" type="button" on:click=again>"Try again"</button> }
    });
    view! {
        <div class=class role=role>
            <Icon glyph />
            <p>{text}</p>
            {retry}
            <CloseButton label="Close this message" on_close=move |()| messages.close(number) />
        </div>
    }
}
