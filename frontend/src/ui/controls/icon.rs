//! Icons: strokes on a grid of 16, in the colour of the text. They have no text alternative: a text
//! or label next to them gives the meaning.

use leptos::prelude::*;

/// A picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyph {
    /// The program's mark.
    Mark,
    /// Light theme.
    Sun,
    /// Dark theme.
    Moon,
    /// Keys and help.
    Keyboard,
    /// Copy a link.
    Link,
    /// Copy.
    Copy,
    /// Delete.
    Trash,
    /// Upload a file.
    Upload,
    /// Download a file.
    Download,
    /// Find.
    Search,
    /// Something went well.
    Check,
    /// Something needs attention.
    Warning,
    /// Close.
    Close,
    /// The previous one, upwards.
    Up,
    /// The next one, downwards.
    Down,
    /// The previous one, to the left.
    Left,
    /// The next one, to the right.
    Right,
    /// More actions.
    More,
    /// Empty list.
    Empty,
    /// Tracks over time.
    Timeline,
    /// Metrics.
    Summary,
    /// A table.
    Table,
    /// The panel at the right.
    Dock,
    /// Keep in sight.
    Pin,
    /// One beside another.
    Compare,
}

impl Glyph {
    fn path(self) -> &'static str {
        match self {
            Self::Mark => "M2 4.5h6M5.5 8h8M3.5 11.5h5",
            Self::Sun => {
                "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7"
            }
            Self::Moon => "M13.5 9.6A5.75 5.75 0 0 1 6.4 2.5a5.75 5.75 0 1 0 7.1 7.1Z",
            Self::Keyboard => {
                "M2.5 4h11a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1ZM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.75h6"
            }
            Self::Link => {
                "M6.75 9.25l2.5-2.5M7.5 4.75l1.6-1.6a2.65 2.65 0 0 1 3.75 3.75l-1.6 1.6M8.5 11.25l-1.6 1.6A2.65 2.65 0 0 1 3.15 9.1l1.6-1.6"
            }
            Self::Copy => {
                "M6.5 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1ZM3.5 10.5a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1"
            }
            Self::Trash => {
                "M2.5 4.5h11M6 4.5V3a.5.5 0 0 1 .5-.5h3A.5.5 0 0 1 10 3v1.5M4 4.5l.6 8a1 1 0 0 0 1 1h4.8a1 1 0 0 0 1-1l.6-8M6.75 7v4M9.25 7v4"
            }
            Self::Upload => {
                "M8 10.5v-8M4.75 5.5L8 2.25l3.25 3.25M2.5 10.5v2a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-2"
            }
            Self::Download => {
                "M8 2.25v8M4.75 7.25L8 10.5l3.25-3.25M2.5 10.5v2a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-2"
            }
            Self::Search => "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9ZM10.25 10.25l3.25 3.25",
            Self::Check => "M3 8.5l3.25 3.25L13 5",
            Self::Warning => "M8 2.25l6.25 11.25H1.75ZM8 6.5v3.25M8 11.75h.01",
            Self::More => "M3.5 8h.01M8 8h.01M12.5 8h.01",
            Self::Close => "M4 4l8 8M12 4l-8 8",
            Self::Up => "M4 9.75L8 5.75l4 4",
            Self::Down => "M4 6.25l4 4l4-4",
            Self::Left => "M9.75 4l-4 4l4 4",
            Self::Right => "M6.25 4l4 4l-4 4",
            Self::Timeline => "M2 3.5h5M5 8h7M3.5 12.5h4M10 3.5h4M10 12.5h3",
            Self::Summary => "M2.5 13.5v-5h3v5ZM6.5 13.5v-11h3v11ZM10.5 13.5v-8h3v8Z",
            Self::Dock => "M3 3h10a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM10 3v10",
            Self::Pin => "M6 2.5h4M6.75 2.5v4L4.5 9h7L9.25 6.5v-4M8 9v4.5",
            Self::Compare => "M2 3h9M2 6h6M5 10h9M8 13h6",
            Self::Table => "M2.5 3h11v10h-11ZM2.5 6.25h11M2.5 9.5h11M6.5 6.25v6.75",
            Self::Empty => "M2.5 4.5h5M6 8h7.5M3.5 11.5h4.5",
        }
    }
}

/// Draws a picture.
#[component]
pub fn Icon(
    /// The picture.
    glyph: Glyph,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d=glyph.path() />
        </svg>
    }
}
