//! Small charts of the growth of costs: points on two logarithmic axes, as SVG for light and dark
//! pages.

use std::fmt::Write as _;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 44.0;
/// Number of charts side by side.
const COLUMNS: usize = 2;

const STYLE: &str = "\
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 13px }
.grid { stroke: #d0d7de; stroke-width: 1 }
.line { stroke: #0550ae; stroke-width: 2; fill: none }
.point { fill: #0550ae }
.page { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .grid { stroke: #3d444d }
  .line { stroke: #79c0ff }
  .point { fill: #79c0ff }
  .page { fill: #0d1117 }
}";

/// One chart.
#[derive(Debug)]
pub struct Chart {
    /// Title with the measured quantity and its unit.
    pub title: String,
    /// Pairs of event count and cost; all positive.
    pub points: Vec<(f64, f64)>,
}

/// Exponents of the powers of ten that enclose the values: at least one decade.
fn decades(values: impl Iterator<Item = f64> + Clone) -> (i32, i32) {
    let lowest = values.clone().fold(f64::MAX, f64::min).log10();
    let highest = values.fold(f64::MIN_POSITIVE, f64::max).log10();
    // The logarithm of a power of ten is not always a whole number.
    let from = (lowest + 1e-9).floor() as i32;
    (from, ((highest - 1e-9).ceil() as i32).max(from + 1))
}

/// A readable label of a power of ten.
fn label(power: i32) -> String {
    match power {
        ..=-4 => format!("10^{power}"),
        -3..0 => format!("{:.*}", power.unsigned_abs() as usize, 10_f64.powi(power)),
        0..3 => format!("{:.0}", 10_f64.powi(power)),
        3..6 => format!("{:.0} k", 10_f64.powi(power - 3)),
        6..9 => format!("{:.0} M", 10_f64.powi(power - 6)),
        _ => format!("{:.0} G", 10_f64.powi(power - 9)),
    }
}

/// The charts as one picture.
#[must_use]
pub fn svg(charts: &[Chart]) -> String {
    let rows = charts.len().div_ceil(COLUMNS);
    let (width, height) = (WIDTH * COLUMNS as f64, HEIGHT * rows as f64);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<style>\n{STYLE}\n</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for (at, chart) in charts.iter().filter(|chart| !chart.points.is_empty()).enumerate() {
        let (x, y) = ((at % COLUMNS) as f64 * WIDTH, (at / COLUMNS) as f64 * HEIGHT);
        // Writing to a string does not fail.
        let _ = draw(&mut out, chart, x, y);
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, chart: &Chart, x: f64, y: f64) -> std::fmt::Result {
    let (from_x, to_x) = decades(chart.points.iter().map(|point| point.0));
    let (from_y, to_y) = decades(chart.points.iter().map(|point| point.1));
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let across = |log: f64| LEFT + (log - f64::from(from_x)) / f64::from(to_x - from_x) * (right - LEFT);
    let up = |log: f64| bottom - (log - f64::from(from_y)) / f64::from(to_y - from_y) * (bottom - TOP);
    writeln!(out, "<g transform=\"translate({x} {y})\">")?;
    writeln!(out, "<text class=\"title\" x=\"{LEFT}\" y=\"24\">{}</text>", escaped(&chart.title))?;
    for power in from_x..=to_x {
        let at = across(f64::from(power));
        writeln!(out, "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\"/>")?;
        let below = bottom + 18.0;
        writeln!(out, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>", label(power))?;
    }
    for power in from_y..=to_y {
        let at = up(f64::from(power));
        writeln!(out, "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>")?;
        let (x, y) = (LEFT - 8.0, at + 4.0);
        writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", label(power))?;
    }
    let (x, y) = (f64::midpoint(LEFT, right), HEIGHT - 8.0);
    writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">events</text>")?;
    let points: Vec<(f64, f64)> =
        chart.points.iter().map(|(x, y)| (across(x.log10()), up(y.log10()))).collect();
    let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    writeln!(out, "<polyline class=\"line\" points=\"{}\"/>", line.join(" "))?;
    for ((x, y), (events, cost)) in points.iter().zip(&chart.points) {
        let says = format!("{events} events: {cost:.4}");
        writeln!(
            out,
            "<circle class=\"point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{says}</title></circle>"
        )?;
    }
    writeln!(out, "</g>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_enclose_their_values() {
        assert_eq!(decades([1e5, 1e7].into_iter()), (5, 7));
        assert_eq!(decades([3.0].into_iter()), (0, 1));
        assert_eq!(decades([0.1, 0.2].into_iter()), (-1, 0));
    }

    #[test]
    fn every_point_lies_inside_its_chart() {
        let points = vec![(1e5, 0.02), (1e6, 0.3), (1e8, 40.0)];
        let text = svg(&[Chart { title: "a < b".to_owned(), points }]);
        assert!(text.contains("a &lt; b"));
        let centres = text.lines().filter(|line| line.starts_with("<circle"));
        let number = |line: &str, name: &str| -> f64 {
            line.split(name).nth(1).unwrap().split('"').nth(1).unwrap().parse().unwrap()
        };
        let mut seen = 0;
        for line in centres {
            seen += 1;
            assert!((LEFT..=WIDTH - RIGHT).contains(&number(line, "cx=")), "{line}");
            assert!((TOP..=HEIGHT - BOTTOM).contains(&number(line, "cy=")), "{line}");
        }
        assert_eq!(seen, 3);
    }
}
