//! What is looked at: values and functions on them, without a browser.

pub mod command;
pub mod hover;
pub mod state;
pub mod url;
pub mod window;

pub use command::{Command, History};
pub use hover::{Hover, Hovered};
pub use state::View;
