//! The grammar of queries.

use super::word::{FieldTest, FilterWord, NumberComparison, WordFilter, WordTest, is_sign};
use crate::query::search::{PatternError, SearchPattern, Syntax};

impl WordFilter {
    /// Reads a query.
    ///
    /// ```
    /// use nprof_engine::query::WordFilter;
    ///
    /// let filter = WordFilter::parse("opcode=MATMUL dur>5us -/warm.?up/").unwrap();
    /// assert_eq!(filter.words.len(), 3);
    /// assert_eq!(WordFilter::parse("dur>").unwrap_err().at, Some(4));
    /// ```
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Ok(Self { words: words(text)?.into_iter().map(|(_, word)| word).collect() })
    }
}

/// The words of a query, each with the position of its first character.
pub fn words(text: &str) -> Result<Vec<(usize, FilterWord)>, PatternError> {
    let mut reader = Reader { letters: text.chars().collect(), at: 0 };
    let mut words = Vec::new();
    loop {
        while reader.next_if(char::is_whitespace) {}
        if reader.peek(0).is_none() {
            return Ok(words);
        }
        let at = reader.at;
        words.push((at, reader.word()?));
    }
}

struct Reader {
    letters: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn next_if(&mut self, is_it: impl Fn(char) -> bool) -> bool {
        let is_next = self.peek(0).is_some_and(is_it);
        self.at += usize::from(is_next);
        is_next
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_next = sign.chars().enumerate().all(|(ahead, letter)| self.peek(ahead) == Some(letter));
        self.at += if is_next { sign.chars().count() } else { 0 };
        is_next
    }

    fn fault<T>(&self, at: usize, what: impl Into<String>) -> Result<T, PatternError> {
        Err(PatternError { at: Some(at.min(self.letters.len())), what: what.into() })
    }

    fn word(&mut self) -> Result<FilterWord, PatternError> {
        // A number below zero is a text like any other, and so is a lone dash.
        let is_text =
            |next: Option<char>| next.is_none_or(|next| next.is_whitespace() || next.is_ascii_digit());
        let excludes = self.peek(0) == Some('-') && !is_text(self.peek(1));
        self.at += usize::from(excludes);
        let test = match self.regex()? {
            Some(pattern) => WordTest::Regex(pattern),
            None => match self.field()? {
                Some(test) => test,
                None => WordTest::Text(self.list()?),
            },
        };
        Ok(FilterWord { excludes, test })
    }

    /// A regular expression between slashes. Without the second slash it is a text, such as the
    /// path of a file.
    fn regex(&mut self) -> Result<Option<String>, PatternError> {
        if self.peek(0) != Some('/') {
            return Ok(None);
        }
        let (mut pattern, mut ahead) = (String::new(), 1);
        loop {
            match (self.peek(ahead), self.peek(ahead + 1)) {
                (None, _) => return Ok(None),
                (Some('\\'), Some('/')) => pattern.push('/'),
                (Some('\\'), Some(next)) => pattern.extend(['\\', next]),
                (Some('/'), next) if next.is_none_or(char::is_whitespace) => break,
                (Some(letter), _) => {
                    pattern.push(letter);
                    ahead += 1;
                    continue;
                }
            }
            ahead += 2;
        }
        let first = self.at + 1;
        self.at += ahead + 1;
        match SearchPattern::new(&pattern, Syntax::Regex) {
            _ if pattern.is_empty() => self.fault(first, "the regular expression is empty"),
            Err(PatternError { at, what }) => self.fault(first + at.unwrap_or(0), what),
            Ok(_) => Ok(Some(pattern)),
        }
    }

    /// The test of a field, if a name with a sign follows.
    fn field(&mut self) -> Result<Option<WordTest>, PatternError> {
        let is_first = |letter: char| letter.is_alphabetic() || letter == '_';
        let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
        if !self.peek(0).is_some_and(is_first) {
            return Ok(None);
        }
        let length = (0..).take_while(|ahead| self.peek(*ahead).is_some_and(is_of_name)).count();
        let is_path = self.peek(length) == Some(':') && self.peek(length + 1) == Some(':');
        if is_path || !self.peek(length).is_some_and(is_sign) {
            return Ok(None);
        }
        let name: String = self.letters[self.at..self.at + length].iter().collect();
        self.at += length;
        let sign = self.at;
        let test = if self.take("~") {
            let pattern = self.regex()?;
            FieldTest::Regex(pattern.map_or_else(|| self.fault(sign + 1, format!("write {name}~/…/")), Ok)?)
        } else if self.take(":") {
            FieldTest::Has(self.list()?)
        } else if self.take("=") {
            FieldTest::Is(self.list()?)
        } else {
            let Some((_, comparison)) = NumberComparison::SIGNS.into_iter().find(|(sign, _)| self.take(sign))
            else {
                return Ok(None);
            };
            let value = self.value()?;
            if self.peek(0) == Some(',') {
                return self.fault(self.at, "a comparison has one number");
            }
            FieldTest::Number(comparison, value)
        };
        Ok(Some(WordTest::Field { name, test }))
    }

    /// Values with commas between them.
    fn list(&mut self) -> Result<Vec<String>, PatternError> {
        let mut values = vec![self.value()?];
        while self.take(",") {
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// A text until a comma or a space outside of quotes.
    fn value(&mut self) -> Result<String, PatternError> {
        let (start, mut value, mut is_quoted) = (self.at, String::new(), false);
        while let Some(letter) = self.peek(0) {
            if letter == '"' {
                is_quoted = true;
                self.quoted(&mut value)?;
            } else if letter.is_whitespace() || letter == ',' && !self.is_between_thousands() {
                break;
            } else {
                value.push(letter);
                self.at += 1;
            }
        }
        if value.is_empty() && !is_quoted {
            return self.fault(start, "a value is missing here");
        }
        Ok(value)
    }

    fn quoted(&mut self, value: &mut String) -> Result<(), PatternError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return self.fault(start, "the quote is not closed"),
                Some('"') => break,
                Some('\\') if matches!(self.peek(1), Some('"' | '\\')) => {
                    value.extend(self.peek(1));
                    self.at += 1;
                }
                Some(letter) => value.push(letter),
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }

    /// Whether a comma stands between thousands, as in `1,048,576`.
    fn is_between_thousands(&self) -> bool {
        let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
        let before = self.at.checked_sub(1).and_then(|at| self.letters.get(at)).copied();
        is_digit(before) && (1..=3).all(|ahead| is_digit(self.peek(ahead))) && !is_digit(self.peek(4))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words_of(text: &str) -> Vec<WordTest> {
        WordFilter::parse(text).unwrap().words.into_iter().map(|word| word.test).collect()
    }

    fn text(of: &[&str]) -> WordTest {
        WordTest::Text(of.iter().map(|text| (*text).to_owned()).collect())
    }

    fn field(name: &str, test: FieldTest) -> WordTest {
        WordTest::Field { name: name.to_owned(), test }
    }

    fn has(of: &[&str]) -> FieldTest {
        FieldTest::Has(of.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn words_are_texts_unless_they_have_a_sign() {
        assert_eq!(
            words_of("mat \"two words\" a,b"),
            [text(&["mat"]), text(&["two words"]), text(&["a", "b"])]
        );
        assert_eq!(
            words_of("aten::mm /usr/lib 1,024 -1"),
            ["aten::mm", "/usr/lib", "1,024", "-1"].map(|of| text(&[of]))
        );
        assert_eq!(words_of("\"a:b\" -"), [text(&["a:b"]), text(&["-"])]);
        assert_eq!(
            words_of("/a b/ /x\\/y/"),
            [WordTest::Regex("a b".to_owned()), WordTest::Regex("x/y".to_owned())]
        );
        assert_eq!(words_of("opcode:MAT,\"a b\""), [field("opcode", has(&["MAT", "a b"]))]);
        assert_eq!(words_of("size:512..32KiB"), [field("size", has(&["512..32KiB"]))]);
        assert_eq!(words_of("opcode~/SEM/"), [field("opcode", FieldTest::Regex("SEM".to_owned()))]);
        let above = FieldTest::Number(NumberComparison::AtLeast, "5us".to_owned());
        assert_eq!(words_of("dur>=5us"), [field("dur", above)]);
        assert!(WordFilter::parse("-opcode:A").unwrap().words[0].excludes);
        assert!(WordFilter::parse(" ").unwrap().is_empty());
    }

    #[test]
    fn faults_name_the_character() {
        for (text, at) in
            [("a \"b", 2), ("dur>", 4), ("a:", 2), ("x /(/", 3), ("opcode~x", 7), ("a,,b", 2), ("dur>1,2", 5)]
        {
            assert_eq!(WordFilter::parse(text).unwrap_err().at, Some(at), "{text}");
        }
    }

    fn any_word() -> impl Strategy<Value = FilterWord> {
        let texts = || proptest::collection::vec("\\PC{0,6}", 1..3);
        let name = "[a-z_][a-z0-9_.]{0,5}";
        let comparison = prop::sample::select(NumberComparison::SIGNS.map(|(_, of)| of).to_vec());
        let pattern = "[a-z/ ]{1,5}";
        let test = prop_oneof![
            texts().prop_map(FieldTest::Has),
            texts().prop_map(FieldTest::Is),
            pattern.prop_map(FieldTest::Regex),
            (comparison, "\\PC{0,6}").prop_map(|(of, number)| FieldTest::Number(of, number)),
        ];
        let word = prop_oneof![
            texts().prop_map(WordTest::Text),
            pattern.prop_map(WordTest::Regex),
            (name, test).prop_map(|(name, test)| WordTest::Field { name, test }),
        ];
        (any::<bool>(), word).prop_map(|(excludes, test)| FilterWord { excludes, test })
    }

    proptest! {
        #[test]
        fn a_written_query_is_read_as_the_same(words in proptest::collection::vec(any_word(), 0..4)) {
            let filter = WordFilter { words };
            prop_assert_eq!(WordFilter::parse(&filter.to_string()), Ok(filter));
        }

        #[test]
        fn any_text_is_read_or_refused_at_a_place(text in "\\PC{0,20}") {
            if let Err(fault) = WordFilter::parse(&text) {
                prop_assert!(fault.at.unwrap() <= text.chars().count());
            }
        }
    }
}
