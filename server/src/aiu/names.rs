//! Names as acelyzer writes them.

/// A name without the bytes of its transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// The name.
    pub name: String,
    /// Bytes that the name states, as text.
    pub bytes: Option<String>,
}

/// A name of FLEX in acelyzer's words.
#[must_use]
pub fn normalised(name: &str) -> String {
    name.replace("RDMA", "Rdma").replace("Receive", "Recv")
}

/// A name of FLEX in acelyzer's words, without the size of a transfer: `[524288B]`.
#[must_use]
pub fn plain(name: &str) -> Plain {
    let mut name = normalised(name);
    let mut bytes = None;
    if let Some(at) = name.find(" [")
        && let Some(len) = name[at..].find("B]")
        && let digits = &name[at + 2..at + len]
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        bytes = Some(digits.to_owned());
        name.replace_range(at..at + len + 2, "");
    }
    Plain { name, bytes }
}

/// A name without its numbers, each with one `_` before it. Digits within a word stay, so `conv2d`
/// keeps its name. Numbers after a `V` stay, too, and none within `[sync=…]`.
#[must_use]
pub fn shortened(name: &str) -> String {
    short(name, |short, behind| {
        let is_word = short.ends_with(char::is_alphabetic) && behind.starts_with(char::is_alphabetic);
        is_word && short.rfind('[').is_none_or(|open| short[open..].contains(']'))
    })
}

/// The same as acelyzer does: digits within a word leave it, too.
#[must_use]
pub fn shortened_as_acelyzer(name: &str) -> String {
    short(name, |_, _| false)
}

/// A name without its numbers, but those that `keeps`: it gets the text before them, and the rest.
fn short(name: &str, keeps: impl Fn(&str, &str) -> bool) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(|sign: char| sign.is_ascii_digit()) {
        let (before, after) = rest.split_at(at);
        let len = after.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(after.len());
        let (digits, behind) = after.split_at(len);
        short.push_str(before);
        if keeps(&short, behind) || short.ends_with('V') {
            short.push_str(digits);
        } else if short.ends_with('_') {
            short.pop();
        }
        rest = behind;
    }
    short.push_str(rest);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_leave_names() {
        let of = plain("SenRDMASend_1 [524288B] [sync=a_s0_r1_0] DmaO");
        assert_eq!(of.name, "SenRdmaSend_1 [sync=a_s0_r1_0] DmaO");
        assert_eq!(of.bytes.as_deref(), Some("524288"));
        for name in ["a [B] c", "a [xB]", "a [12"] {
            assert_eq!(plain(name), Plain { name: name.to_owned(), bytes: None });
        }
    }

    #[test]
    fn numbers_leave_names() {
        for (name, expected) in [
            ("SenRdmaRecv_82236 [sync=All_4_s0_r1_0] DmaI", "SenRdmaRecv [sync=All_s_r] DmaI"),
            ("SenRdmaRecv_82229 [sync=All_4_s3_r0x7_6] DmaI", "SenRdmaRecv [sync=All_s_rx] DmaI"),
            ("max_pool2d_with_indices Cmpt Exec", "max_pool2d_with_indices Cmpt Exec"),
            ("add_11 Cmpt Exec", "add Cmpt Exec"),
            ("HCOLL R5 Wait DATA", "HCOLL R Wait DATA"),
            ("V100", "V100"),
            ("12", ""),
        ] {
            assert_eq!(shortened(name), expected);
        }
        assert_eq!(shortened_as_acelyzer("max_pool2d_1 [524288B] Cmpt Exec"), "max_poold [B] Cmpt Exec");
    }
}
