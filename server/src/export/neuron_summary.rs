//! Tables that explain neuron-profile's summary: the group and the meaning of each metric, and the
//! row of `layer_summary` for the whole program. Rows of single layers need names from the NEFF.

use nprof_engine::base::Time;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::exec::Cancel;
use nprof_engine::makers::neuron::schema::{
    INSTRUCTION, LAYER_SUMMARY, LayerRow, ModelRow, SUMMARY_GROUP_ORDER, SUMMARY_GROUPS, TERMINOLOGY,
};
use nprof_engine::makers::neuron::{Engine, group};
use nprof_engine::model::{Role, TrackContent};
use nprof_engine::native::SegmentFile;
use nprof_engine::segment::TrackMeta;
use nprof_engine::wire::summary::Summary;
use serde_json::{Map, Value as Json, json};

/// The tables by name, each with its rows.
pub(super) fn tables(segment: &SegmentFile, summary: &Summary) -> Vec<(&'static str, Vec<Json>)> {
    let metrics = || {
        let groups = summary.groups.iter();
        groups.flat_map(|group| group.metrics.iter().map(move |metric| (group.key.as_str(), metric)))
    };
    let groups: Map<String, Json> = metrics()
        .map(|(key, metric)| (metric.name.clone(), Json::from(group::exported(key, &metric.name))))
        .collect();
    let terms: Map<String, Json> =
        metrics().map(|(_, metric)| (metric.name.clone(), Json::from(metric.doc.as_str()))).collect();
    let order: Map<String, Json> = (0..)
        .zip(group::EXPORTED)
        .map(|(place, group): (u32, _)| (group.to_owned(), Json::from(place)))
        .collect();
    vec![
        (SUMMARY_GROUPS.name, vec![Json::Object(groups)]),
        (SUMMARY_GROUP_ORDER.name, vec![Json::Object(order)]),
        (TERMINOLOGY.name, vec![Json::Object(terms)]),
        (LAYER_SUMMARY.name, program(segment, summary).into_iter().collect()),
    ]
}

/// The row of `layer_summary` for the whole program. `None` if several cores ran, because their
/// metrics are merged here.
fn program(segment: &SegmentFile, summary: &Summary) -> Option<Json> {
    let footer = segment.footer();
    let table = segment.table(INSTRUCTION.name)?;
    let is_instructions =
        |track: &&TrackMeta| matches!(track.spec.kind, TrackContent::Slices(of, _) if of == table);
    let tracks: Vec<&TrackMeta> =
        footer.tracks.iter().filter(|track| track.rows > 0).filter(is_instructions).collect();
    let (start_ps, end_ps) =
        (tracks.iter().map(|t| t.start_ps).min()?, tracks.iter().map(|t| t.end_ps).max()?);
    let name = subgraph(segment)?;
    let metrics = super::summary::metrics(summary);
    let number = |name: &str| metrics.get(name).and_then(Json::as_f64);
    let duration_s = seconds(end_ps - start_ps);
    let mut row = Map::new();
    row.insert("name".to_owned(), json!(name));
    row.insert(LayerRow::by(|field| field.name).fully_qualified_subgraph.to_owned(), json!(name));
    row.insert("start".to_owned(), json!(Time(start_ps).floor_ns()));
    row.insert("end".to_owned(), json!(Time(end_ps).floor_ns()));
    row.insert("duration".to_owned(), json!((end_ps - start_ps).div_euclid(PS_PER_NS)));
    for prefix in Engine::SHOWN.map(Engine::prefix) {
        let of = |quantity: &str| number(&format!("{prefix}_{quantity}"));
        let mut put = |quantity: &str, value: Json| {
            row.insert(format!("{prefix}_{quantity}"), value);
        };
        let (active_s, executed_s) =
            (of("active_time").unwrap_or(0.0), of("instruction_time").unwrap_or(0.0));
        put("active_time", json!(whole_ns(active_s)));
        put("instruction_time", json!(whole_ns(executed_s)));
        put("active_percent", json!(if duration_s > 0.0 { active_s / duration_s } else { 0.0 }));
        let count = metrics.get(&format!("{prefix}_instruction_count"));
        put("instruction_count", count.cloned().unwrap_or(json!(0)));
    }
    row.extend(flops(&metrics, &number, seconds(last_tensor_end(&tracks)? - start_ps)));
    Some(Json::Object(row))
}

/// The Tensor engine's operations, and its share of the peak until the end of its last slice.
fn flops(
    metrics: &Map<String, Json>,
    number: &dyn Fn(&str) -> Option<f64>,
    until_end_s: f64,
) -> Vec<(String, Json)> {
    let mut fields = Vec::new();
    let total_s = number("total_time").unwrap_or(0.0);
    let names = [("hardware_flops", "flop_count", "hfu"), ("model_flops", "model_flop_count", "mfu")];
    for (metric, count, share) in names {
        let Some(flops) = metrics.get(metric) else { continue };
        fields.push((format!("tensor_engine_{count}"), flops.clone()));
        if let Some(of_run) = number(&format!("{share}_estimated_percent")).filter(|_| until_end_s > 0.0) {
            fields.push((format!("tensor_engine_{share}"), json!(of_run * total_s / until_end_s)));
        }
    }
    fields
}

fn last_tensor_end(tracks: &[&TrackMeta]) -> Option<i64> {
    let role = Role::Engine(Engine::Tensor.kind());
    let tensor = tracks.iter().filter(|track| track.spec.identity.role == role);
    tensor.map(|track| track.end_ps).max()
}

/// The subgraph of the instructions, if there is exactly one.
fn subgraph(segment: &SegmentFile) -> Option<String> {
    let rows = ModelRow::read(segment, Cancel::NEVER);
    match rows.as_deref() {
        Ok([only]) => only.sg_name.text().map(|name| format!("/{name}")),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share has the precision of a float")]
fn seconds(ps: i64) -> f64 {
    ps as f64 / 1e12
}

/// Converts seconds that stand for a whole number of picoseconds to whole nanoseconds.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn whole_ns(seconds: f64) -> i64 {
    ((seconds * 1e12).round() as i64).div_euclid(PS_PER_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_those_of_the_picoseconds() {
        assert_eq!(whole_ns(2.184225e-06), 2184);
        assert_eq!(whole_ns(1e-9), 1);
    }
}
