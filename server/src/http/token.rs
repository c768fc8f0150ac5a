//! The token of a server: a secret that the printed link contains.

use std::fmt;

use subtle::ConstantTimeEq;

/// 128 bits: nobody guesses them.
const TOKEN_BYTES: usize = 16;
/// Name of the query parameter of the printed link.
pub const PARAMETER: &str = "token";

/// A secret that admits to one run of a server. It is not stored anywhere.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new token, from the random numbers of the system.
    ///
    /// # Errors
    /// If the system has none.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Compares in constant time, so that the duration tells nothing about the token.
    #[must_use]
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// The text of the token, 32 hexadecimal digits.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Logs must not show the token.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Divides a query into the token and the other parameters. `None` if it has no token.
#[must_use]
pub fn split(query: &str) -> Option<(String, String)> {
    let is_token = |part: &&str| part.split('=').next() == Some(PARAMETER);
    let (tokens, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_token);
    let given = tokens.first()?.split_once('=').map_or("", |(_, given)| given);
    Some((given.to_owned(), others.join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_only_the_same_text_matches() {
        let (token, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(token.text().len(), 2 * TOKEN_BYTES);
        assert!(token.text().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(token.is(token.text()));
        for wrong in ["", other.text(), &token.text()[1..], &format!("{}0", token.text())] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(!format!("{token:?}").contains(token.text()));
    }

    #[track_caller]
    fn check_split(query: &str, expected: Option<(&str, &str)>) {
        let expected = expected.map(|(token, rest)| (token.to_owned(), rest.to_owned()));
        assert_eq!(split(query), expected, "{query}");
    }

    #[test]
    fn the_token_leaves_the_query() {
        check_split("", None);
        check_split("rank=1&tokens=2", None);
        check_split("token=ab", Some(("ab", "")));
        check_split("rank=1&token=ab&x", Some(("ab", "rank=1&x")));
        check_split("token=a&token=b", Some(("a", "")));
        check_split("token", Some(("", "")));
    }
}
