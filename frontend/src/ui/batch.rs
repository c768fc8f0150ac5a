//! Which of the files that were dropped together make one profile. Pure.

/// Positions of the files of each profile, by the files' names.
///
/// Neuron's NTFF and NEFF belong together, and so do traces whose names tell the rank (`rank_0.json`, `worker3.json`).
/// Every other trace is a profile of its own.
#[must_use]
pub fn profiles(names: &[String]) -> Vec<Vec<usize>> {
    let mut neuron = Vec::new();
    let mut ranks = Vec::new();
    let mut alone = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let name = name.to_lowercase();
        if name.ends_with(".ntff") || name.ends_with(".neff") {
            neuron.push(at);
        } else if tells_rank(&name) {
            ranks.push(at);
        } else {
            alone.push(vec![at]);
        }
    }
    let mut all: Vec<Vec<usize>> = [neuron, ranks].into_iter().filter(|group| !group.is_empty()).collect();
    all.append(&mut alone);
    all
}

/// Whether `rank` or `worker` stands before a number.
fn tells_rank(name: &str) -> bool {
    ["rank", "worker"].iter().any(|word| {
        name.match_indices(word).any(|(at, _)| {
            name[at + word.len()..].trim_start_matches(['_', '-']).starts_with(|c: char| c.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, expected: &[&[usize]]) {
        let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
        assert_eq!(profiles(&names), expected);
    }

    #[test]
    fn files_that_belong_together_make_one_profile() {
        check("a.json b.json.gz", &[&[0], &[1]]);
        check("profile.NTFF file.neff", &[&[0, 1]]);
        check("x.json rank_1.json profile_rank_0.ntff rank_0.json f.neff", &[&[2, 4], &[1, 3], &[0]]);
        check("ranking.json worker.json", &[&[0], &[1]]);
    }
}
