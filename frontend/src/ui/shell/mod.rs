//! State and parts that all pages share: the address, questions in flight, commands with their
//! keys, messages, downloads and the theme.

mod address;
mod brand;
pub mod clipboard;
mod commands;
mod download;
mod help;
mod message;
mod palette;
mod question;
pub mod settings;
mod task;
mod theme;

pub use address::{Address, Link};
pub use brand::Brand;
pub use commands::{Commands, FoundPlace, Handler, pressed_in};
pub use download::{DownloadDialog, DownloadMenu, InSight, ShownWindow};
pub use help::{Help, HelpButton, HelpOpen};
pub use message::{MessageList, Messages};
pub use palette::Palette;
pub use question::{Answered, QuestionAnswers, TimesOf};
pub use task::spawn_while_shown;
pub use theme::{CurrentTheme, Theme, ThemeButton};
