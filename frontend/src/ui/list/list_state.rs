//! Filter and order of the list, which the address holds.

use leptos::prelude::*;

use crate::ui::shell::Address;
use crate::view::url::page::ListView;

/// Filter and order of the list, from the address.
#[derive(Debug, Clone, Copy)]
pub struct ListState {
    address: Address,
    view: Memo<ListView>,
}

impl ListState {
    pub(super) fn new() -> Self {
        let address = expect_context::<Address>();
        let place = address.place();
        let view = Memo::new(move |before: Option<&ListView>| {
            // While the page changes to another place, this component still exists for a moment.
            place.with(|place| place.list_view().cloned()).or_else(|| before.cloned()).unwrap_or_default()
        });
        Self { address, view }
    }

    /// The current filter and order.
    #[must_use]
    pub fn view(self) -> ListView {
        self.view.get()
    }

    /// Changes the filter or the order.
    pub fn change(self, change: impl FnOnce(&mut ListView)) {
        let mut view = self.view.get_untracked();
        change(&mut view);
        self.address.show_list(view);
    }
}
