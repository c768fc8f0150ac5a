//! Arguments of an event: few, in order, under keys that most events share.

use std::ops::Index;
use std::sync::Arc;

use serde_json::Value as Json;

/// A key. Copies share its text.
#[derive(Debug, Clone)]
pub enum Key {
    /// A key that the program knows.
    Known(&'static str),
    /// The name of a field of the trace.
    Field(Arc<str>),
}

impl Key {
    /// The text of the key.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Known(text) => text,
            Self::Field(text) => text,
        }
    }
}

impl From<&'static str> for Key {
    fn from(text: &'static str) -> Self {
        Self::Known(text)
    }
}

impl From<Arc<str>> for Key {
    fn from(text: Arc<str>) -> Self {
        Self::Field(text)
    }
}

/// Arguments in the order of their first insertion.
#[derive(Debug, Clone, Default)]
pub struct Args(Vec<(Key, Json)>);

impl Args {
    /// The value under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(of, _)| of.text() == key).map(|(_, value)| value)
    }

    /// The value under a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.0.iter_mut().find(|(of, _)| of.text() == key).map(|(_, value)| value)
    }

    /// Whether there is a value under a key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Puts a value under a key, instead of the one that is there.
    pub fn insert(&mut self, key: impl Into<Key>, value: Json) {
        let key = key.into();
        match self.get_mut(key.text()) {
            Some(known) => *known = value,
            None => self.0.push((key, value)),
        }
    }

    /// Removes the value under a key.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(of, _)| of.text() != key);
    }

    /// All arguments.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.text(), value))
    }
}

impl PartialEq for Args {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Index<&str> for Args {
    type Output = Json;

    fn index(&self, key: &str) -> &Json {
        self.get(key).unwrap_or(&Json::Null)
    }
}

impl FromIterator<(String, Json)> for Args {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(items: I) -> Self {
        Self(items.into_iter().map(|(key, value)| (Key::Field(key.into()), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_keep_their_order() {
        let mut args = Args::default();
        args.insert("a", Json::from(1));
        args.insert(Arc::<str>::from("b"), Json::from(2));
        args.insert(Arc::<str>::from("a"), Json::from(3));
        let all: Vec<(&str, &Json)> = args.iter().collect();
        assert_eq!(all, [("a", &Json::from(3)), ("b", &Json::from(2))]);
        args.remove("a");
        assert!(!args.contains_key("a") && args["b"] == 2 && args["c"].is_null());
    }
}
