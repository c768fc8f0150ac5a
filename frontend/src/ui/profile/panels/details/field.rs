//! The fields of a slice, grouped by heading or as text for the clipboard. Pure.

use nprof_engine::model::SliceForm;
use nprof_engine::wire::detail::{FieldContent, FieldValue, SliceDetail, SliceEntry};

use crate::ui::text::format;

/// Heading of fields that have none.
const NO_GROUP: &str = "Fields";
/// Heading of start, end and duration.
pub const TIMING: &str = "Timing";

/// Fields under one heading.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldGroup {
    /// The heading.
    pub title: String,
    /// The fields, in the table's order.
    pub fields: Vec<FieldValue>,
}

/// The fields by heading, in order of each heading's first field. Empty texts carry no information
/// and are left out.
#[must_use]
pub fn grouped(fields: &[FieldValue]) -> Vec<FieldGroup> {
    let mut groups: Vec<FieldGroup> = Vec::new();
    for field in fields.iter().filter(|field| !is_empty(&field.value)) {
        let title = if field.group.is_empty() { NO_GROUP } else { &field.group };
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.fields.push(field.clone()),
            None => groups.push(FieldGroup { title: title.to_owned(), fields: vec![field.clone()] }),
        }
    }
    groups
}

fn is_empty(value: &FieldContent) -> bool {
    matches!(value, FieldContent::Text(text) | FieldContent::Json(text) if text.trim().is_empty())
}

/// Name of a slice's form, if it is not the ordinary one. See [`SliceEntry::form`].
#[must_use]
pub fn form_name(form: SliceForm) -> Option<&'static str> {
    (form != SliceForm::Complete).then(|| form.name())
}

/// End of a slice, in picoseconds.
#[must_use]
pub fn end_ps(slice: &SliceEntry) -> i64 {
    slice.start_ps.saturating_add(slice.duration_ps)
}

/// All fields of a slice as lines of `name<tab>value`, exact, for the clipboard. Start and end
/// count from `zero_ps`.
#[must_use]
pub fn as_text(detail: &SliceDetail, track: &str, zero_ps: i64) -> String {
    let slice = &detail.slice;
    let mut text = format!(
        "name\t{}\ntrack\t{}\nstart\t{}\nend\t{}\nduration\t{}\n",
        slice.name,
        track,
        format::exact_ns(slice.start_ps.saturating_sub(zero_ps)),
        format::exact_ns(end_ps(slice).saturating_sub(zero_ps)),
        format::exact_ns(slice.duration_ps),
    );
    for field in &detail.fields {
        let shown = format::value(&field.value, &field.unit);
        let value = match &field.value {
            // On one line, unchanged.
            FieldContent::Json(json) => json.clone(),
            _ if field.unit == "hex" => shown.text,
            _ => shown.exact.unwrap_or(shown.text),
        };
        text.push_str(&format!("{}\t{value}\n", field.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;

    fn field(name: &str, group: &str, value: FieldContent, unit: &str) -> FieldValue {
        FieldValue {
            field: 0,
            name: name.to_owned(),
            unit: unit.to_owned(),
            group: group.to_owned(),
            doc: String::new(),
            value,
        }
    }

    #[test]
    fn groups_keep_the_tables_order() {
        let int = |n| FieldContent::Int(n);
        let fields = [
            field("a", "T", int(1), ""),
            field("b", "", int(2), ""),
            field("c", "T", int(3), ""),
            field("d", "", int(4), ""),
            field("e", "", FieldContent::Text(" ".to_owned()), ""),
        ];
        let shape: Vec<String> = grouped(&fields)
            .iter()
            .map(|group| {
                let names: Vec<&str> = group.fields.iter().map(|field| field.name.as_str()).collect();
                format!("{}: {}", group.title, names.join(" "))
            })
            .collect();
        assert_eq!(shape, ["T: a c", "Fields: b d"]);
    }

    #[test]
    fn the_clipboard_gets_exact_values() {
        let slice = SliceEntry { name: "matmul".to_owned(), ..fixture::slice(1_500, 1_234_567) };
        let detail = SliceDetail {
            fields: vec![
                field("size", "", FieldContent::Int(2048), "B"),
                field("pc", "", FieldContent::Int(16), "hex"),
                field("args", "", FieldContent::Json("{\"a\":1}".to_owned()), ""),
            ],
            ..fixture::detail(slice)
        };
        assert_eq!(
            as_text(&detail, "Engines › Tensor", 500),
            "name\tmatmul\ntrack\tEngines › Tensor\nstart\t1 ns\nend\t1,235.567 ns\nduration\t1,234.567 ns\n\
             size\t2,048 B\npc\t0x10\nargs\t{\"a\":1}\n"
        );
    }
}
