//! The wheel over the tracks, and the choice of the user between scrolling and zooming.

use leptos::prelude::*;
use web_sys::WheelEvent;

use super::pointer::Gestures;
use crate::ui::shell::settings;
use crate::view::Command;
use crate::view::pointing::wheel::{WheelEffect, WheelTurn, WheelUse};

/// Pixels in a line and in a page of the wheel (`WheelEvent.deltaMode`).
const DELTA_PX: [f64; 3] = [1.0, 16.0, 400.0];
/// Stored value of a wheel that zooms.
const ZOOMS: &str = "zooms";

/// The use of the wheel. One for the whole page, as a context.
#[derive(Debug, Clone, Copy)]
pub struct ChosenWheel {
    wheel: RwSignal<WheelUse>,
    /// Whether the user was told how to zoom.
    is_explained: StoredValue<bool>,
}

impl ChosenWheel {
    /// Reads the choice of the user.
    #[must_use]
    pub fn new() -> Self {
        let zooms = settings::read(settings::WHEEL).as_deref() == Some(ZOOMS);
        let wheel = RwSignal::new(if zooms { WheelUse::Zoom } else { WheelUse::Scroll });
        Self { wheel, is_explained: StoredValue::new(false) }
    }

    /// Takes the other use from now on. Returns it.
    pub fn switch(self) -> WheelUse {
        let wheel = self.get().other();
        self.wheel.set(wheel);
        match wheel {
            WheelUse::Scroll => settings::remove(settings::WHEEL),
            WheelUse::Zoom => settings::write(settings::WHEEL, ZOOMS),
        }
        wheel
    }

    /// The use of the wheel.
    #[must_use]
    pub fn get(self) -> WheelUse {
        self.wheel.get_untracked()
    }

    /// The use in words, once: for a turn that had nothing to scroll.
    pub fn explained(self) -> Option<&'static str> {
        let is_explained = self.is_explained.try_update_value(|is_told| std::mem::replace(is_told, true));
        (is_explained == Some(false)).then(|| self.get().words())
    }
}

impl Default for ChosenWheel {
    fn default() -> Self {
        Self::new()
    }
}

impl Gestures {
    /// Handles the wheel over the tracks or the ruler. Returns false if there is nothing to scroll.
    pub fn wheel(self, event: &WheelEvent, wheel: WheelUse) -> bool {
        let Some(scale) = self.scale() else { return true };
        let unit_px = DELTA_PX.get(event.delta_mode() as usize).copied().unwrap_or(1.0);
        let turn = WheelTurn {
            across_px: event.delta_x() * unit_px,
            down_px: event.delta_y() * unit_px,
            control: event.ctrl_key(),
            alt_or_meta: event.alt_key() || event.meta_key(),
            shift: event.shift_key(),
        };
        event.prevent_default();
        match turn.effect(wheel) {
            WheelEffect::Scroll(px) => {
                let Some(rows) = self.scroller_at(f64::from(event.offset_y())) else { return false };
                // In parts of a pixel: a trackpad turns by less than one at a time.
                rows.scroll_by_with_x_and_y(0.0, px);
                return rows.scroll_height() > rows.client_height();
            }
            WheelEffect::Pan(px) => {
                self.on_command.run(Command::Pan { windows: px / scale.width_px.max(1.0) });
            }
            WheelEffect::Zoom(factor) => {
                let at_ps = scale.time_from_px(f64::from(event.offset_x()));
                self.on_command.run(Command::Zoom { factor, at_ps });
            }
        }
        true
    }
}
