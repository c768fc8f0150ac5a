//! The DMA queue of a packet, and the names of queues.

/// A DMA queue: its name if the program gives one, and its number on the engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Queue<'a> {
    /// Name, e.g. `qSyncSpillReload0`; empty if only the number is known.
    pub name: &'a str,
    /// Number on each DMA engine; `None` if only the name is known.
    pub number: Option<u32>,
}

impl<'a> Queue<'a> {
    /// The queue of a row, from its `subgroup` (`name`, `name-Q1-E0` or `Q1-E0`) and `dma_queue`.
    #[must_use]
    pub fn of_row(subgroup: &'a str, number: Option<u32>) -> Self {
        let numbered =
            subgroup.rsplit_once("-E").filter(|(_, engine)| is_number(engine)).map(|(queue, _)| queue);
        let queue = numbered.unwrap_or(subgroup);
        let (name, written) = match queue.rsplit_once("-Q") {
            Some((name, written)) if is_number(written) => (name, Some(written)),
            _ => match queue.strip_prefix('Q') {
                Some(written) if is_number(written) => ("", Some(written)),
                _ => (queue, None),
            },
        };
        Self { name, number: number.or_else(|| written.and_then(|text| text.parse().ok())) }
    }

    /// The title of the queue beside the timeline.
    #[must_use]
    pub fn title(&self) -> String {
        match (self.name, self.number) {
            ("", Some(number)) => format!("Q{number}"),
            ("", None) => "Unknown queue".to_owned(),
            (name, Some(number)) => format!("{name} · Q{number}"),
            (name, None) => name.to_owned(),
        }
    }

    /// The `subgroup` of a row, with the engine of a packet.
    #[must_use]
    pub fn subgroup(&self, engine: Option<u32>) -> String {
        let number = self.number.map(|number| format!("Q{number}"));
        let engine = engine.map(|engine| format!("E{engine}"));
        let name = (!self.name.is_empty()).then(|| self.name.to_owned());
        [name, number, engine].into_iter().flatten().collect::<Vec<_>>().join("-")
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(subgroup: &str, name: &str, number: Option<u32>) {
        assert_eq!(Queue::of_row(subgroup, None), Queue { name, number }, "{subgroup}");
    }

    #[test]
    fn subgroups_are_taken_apart() {
        check("qSyncSpillReload0-Q1-E0", "qSyncSpillReload0", Some(1));
        check("Q14-E9", "", Some(14));
        check("qSyncSpillReload0", "qSyncSpillReload0", None);
        check("", "", None);
        check("-E", "-E", None);
        check("Q99999999999-E0", "", None);
    }

    #[test]
    fn a_subgroup_comes_back_as_it_was() {
        for text in ["qSyncSpillReload0-Q1-E0", "Q14-E9"] {
            let engine = text.rsplit_once("-E").and_then(|(_, engine)| engine.parse().ok());
            assert_eq!(Queue::of_row(text, None).subgroup(engine), text);
        }
    }
}
