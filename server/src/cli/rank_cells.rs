//! Cells of the tables about ranks.

use std::io::Write;

use nprof_engine::base::time::three_digits;
use serde_json::Value;

/// A drift in parts per million, or a dash.
pub(super) fn drift(ppb: i32) -> String {
    if ppb == 0 { "-".to_owned() } else { format!("{:.2} ppm", f64::from(ppb) / 1e3) }
}

/// A share in percent.
pub(super) fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { "-".to_owned() }
}

/// Bytes a second, with three digits.
pub(super) fn rate(bytes_per_s: Option<f64>) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")];
    let Some(rate) = bytes_per_s else { return "-".to_owned() };
    // Common speeds have one unit, so that rows can be compared.
    let found = UNITS.iter().find(|(unit, _)| rate >= 0.1 * unit);
    let (unit, symbol) = found.copied().unwrap_or((1.0, "B/s"));
    format!("{} {symbol}", three_digits(rate / unit))
}

/// Writes flat JSON objects as CSV. The keys of the first one are the heading.
pub(super) fn csv(out: &mut dyn Write, rows: &[Value]) -> anyhow::Result<()> {
    let Some(Value::Object(first)) = rows.first() else { return Ok(()) };
    let keys: Vec<&String> = first.keys().collect();
    writeln!(out, "{}", keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(","))?;
    for row in rows {
        let cells: Vec<String> = keys
            .iter()
            .map(|key| match row.get(key.as_str()) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => quoted(text),
                Some(other) => other.to_string(),
            })
            .collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_have_three_digits_and_units() {
        assert_eq!((share(1.0, 8.0).as_str(), share(1.0, 0.0).as_str()), ("12.5 %", "-"));
        let rates = [Some(12.34e9), Some(0.4e9), Some(2.5e6), Some(99.0), None].map(rate);
        assert_eq!(rates, ["12.3 GB/s", "0.40 GB/s", "2.50 MB/s", "99.0 B/s", "-"]);
        assert_eq!((drift(0).as_str(), drift(-1_500).as_str()), ("-", "-1.50 ppm"));
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let mut out = Vec::new();
        let rows = [json!({"a": 1, "b": "x,\"y\""}), json!({"a": 2.5})];
        csv(&mut out, &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b\n1,\"x,\"\"y\"\"\"\n2.5,\n");
    }
}
