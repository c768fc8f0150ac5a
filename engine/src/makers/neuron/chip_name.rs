//! The name of the chip of a Neuron profile, by the machine that the trace states.

use super::schema::SUMMARY;
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::columns::NamedColumns;
use crate::makers::rows::text_of;
use crate::segment::{Bytes, Segment};

/// Chips of machines, by the family in the name of the machine.
const CHIPS: [(&str, &str); 6] = [
    ("inf1", "Inferentia"),
    ("inf2", "Inferentia2"),
    ("trn1", "Trainium"),
    ("trn1n", "Trainium"),
    ("trn2", "Trainium2"),
    ("trn3", "Trainium3"),
];

/// The chip and its machine. `None` if the trace states no machine.
pub(super) fn read<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<String>> {
    let Some(table) = NamedColumns::of(segment, SUMMARY.name, cancel) else { return Ok(None) };
    let rows = table.all_rows()?;
    Ok(rows.first().and_then(|row| text_of(row, "instance_type")).and_then(|machine| of_machine(&machine)))
}

/// The chip of a machine such as `inf2.xlarge`, with the machine. A machine of an unknown family
/// has its own name.
fn of_machine(machine: &str) -> Option<String> {
    let machine = machine.trim();
    let family = machine.split(['.', '-', 'u']).next().unwrap_or_default();
    let chip = CHIPS.iter().find(|(of, _)| *of == family).map(|(_, chip)| format!("{chip} ({machine})"));
    chip.or_else(|| (!machine.is_empty()).then(|| machine.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_the_chip() {
        let cases = [
            ("inf2.xlarge", Some("Inferentia2 (inf2.xlarge)")),
            ("trn1n.32xlarge", Some("Trainium (trn1n.32xlarge)")),
            ("trn2u.48xlarge", Some("Trainium2 (trn2u.48xlarge)")),
            ("trn9.large", Some("trn9.large")),
            (" ", None),
        ];
        for (machine, expected) in cases {
            assert_eq!(of_machine(machine).as_deref(), expected, "{machine}");
        }
    }
}
