//! Examples of queries, made of what a rank has.

/// A query with its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryExample {
    /// The query.
    pub query: String,
    /// Its meaning in a few words.
    pub meaning: &'static str,
}

/// Examples with the most frequent name, a track and a region of a rank, as queries have them.
/// Without one of these, a usual word stands in its place, or the example is left out.
#[must_use]
pub fn query_examples(name: Option<&str>, track: Option<&str>, region: Option<&str>) -> Vec<QueryExample> {
    let name = name.unwrap_or("matmul");
    let example = |query: String, meaning| QueryExample { query, meaning };
    let begin: String = name.chars().filter(|letter| letter.is_alphanumeric()).take(3).collect();
    let region = region.map(|region| format!("in:\"{}\"", region.replace('"', "\\\"")));
    let all = [
        Some(example(name.to_owned(), "this text in the name or in a field")),
        Some(example(format!("{name},conv"), "one of these texts")),
        Some(example(format!("name={name}"), "exactly this name; any field works")),
        Some(example(format!("-{name}"), "all but these; works with every word")),
        Some(example("dur>5us".to_owned(), "longer than 5 µs; also <, >=, <=")),
        Some(example("size:512..32KiB".to_owned(), "a range, ends included")),
        (!begin.is_empty())
            .then(|| example(format!("/^{begin}/"), "a regular expression; name~/…/ of one field")),
        track.map(|track| example(format!("track:{track}"), "slices of a track")),
        region.map(|region| example(region, "slices that start in a region")),
        Some(example("start>10ms".to_owned(), "later than 10 ms after the first event")),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use nprof_engine::query::WordFilter;

    use super::*;

    #[test]
    fn every_example_can_be_read() {
        let names = [None, Some("MATMUL"), Some("\"void gemm<a, b>\""), Some("\"∑\"")];
        for name in names {
            for QueryExample { query, .. } in query_examples(name, Some("Engines/Tensor"), Some("a \"b\"")) {
                WordFilter::parse(&query).unwrap_or_else(|fault| panic!("{query}: {fault}"));
            }
        }
    }

    #[test]
    fn what_a_rank_lacks_has_no_example() {
        let of_nothing = query_examples(None, None, None);
        assert!(of_nothing.iter().all(|of| !of.query.starts_with("track:") && !of.query.starts_with("in:")));
    }
}
