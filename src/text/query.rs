//! Query strings: what was asked, and the query strings of links that change one thing about it.
//!
//! The format is `application/x-www-form-urlencoded` as Python reads and writes it, since links must equal Datasette's: pairs are
//! separated by `&` alone, a space is `+`, and every byte but ASCII letters, digits and `_.-~` is written as `%XX`.

use std::collections::{HashMap, HashSet};

use super::{UPPER_HEX, hex_byte};

/// A query string, as it came and taken apart.
#[derive(Clone, Debug, Default)]
pub struct QueryString {
    raw: String,
    pairs: Vec<(String, String)>,
}

impl QueryString {
    /// Takes a query string (without its `?`) apart. Never fails: what is not UTF-8 after decoding becomes U+FFFD, a part without `=`
    /// is a key with a blank value, and blank values are kept.
    pub fn parse(raw: &str) -> Self {
        let pairs = raw
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                (decode(key), decode(value))
            })
            .collect();
        Self {
            raw: raw.to_owned(),
            pairs,
        }
    }

    /// The query string as it was given.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Every pair in order, decoded, blank values included.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// The first value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, value)| value.as_str())
    }

    /// Every value of `key`, in order. Looks at every pair; to go through all keys use [`Self::grouped`].
    pub fn get_all(&self, key: &str) -> impl Iterator<Item = &str> {
        self.pairs
            .iter()
            .filter(move |(k, _)| k == key)
            .map(|(_, value)| value.as_str())
    }

    /// Whether `key` is there, with a value or without.
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Each key once, in the order in which they first come.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let mut seen = HashSet::new();
        self.pairs
            .iter()
            .map(|(key, _)| key.as_str())
            .filter(move |key| seen.insert(*key))
    }

    /// Each key once with all its values, in the order in which the keys first come; in time proportional to the pairs.
    pub fn grouped(&self) -> Vec<(&str, Vec<&str>)> {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (key, value) in &self.pairs {
            let place = *places.entry(key).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(value);
        }
        groups
    }

    /// This query string with `args` at its end; a key given `None` is taken out. Datasette's `path_with_added_args`.
    pub fn with_added(&self, args: &[(&str, Option<&str>)]) -> String {
        self.changed(
            |key, _| args.iter().any(|(k, v)| v.is_none() && *k == key),
            args,
        )
    }

    /// This query string without the pairs of `keys`. Datasette's `path_with_removed_args`, given a set.
    pub fn with_removed_keys(&self, keys: &[&str]) -> String {
        self.changed(|key, _| keys.contains(&key), &[])
    }

    /// This query string without `pairs`: key and value must both match. Datasette's `path_with_removed_args`, given a dictionary.
    pub fn with_removed_pairs(&self, pairs: &[(&str, &str)]) -> String {
        self.changed(|key, value| pairs.contains(&(key, value)), &[])
    }

    /// This query string with every pair of the keys in `args` replaced by those of `args`, at its end; `None` only takes out.
    /// Datasette's `path_with_replaced_args`.
    pub fn with_replaced(&self, args: &[(&str, Option<&str>)]) -> String {
        self.changed(|key, _| args.iter().any(|(k, _)| *k == key), args)
    }

    /// The pairs that stay in links and are not `removed`, then those of `added` that have a value.
    fn changed(
        &self,
        removed: impl Fn(&str, &str) -> bool,
        added: &[(&str, Option<&str>)],
    ) -> String {
        let kept = self
            .pairs
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .filter(|(key, value)| stays_in_links(key, value) && !removed(key, value));
        let added = added
            .iter()
            .filter_map(|(key, value)| value.map(|value| (*key, value)));
        encode(kept.chain(added))
    }
}

/// Whether a link made from this page keeps the pair. Datasette drops every pair with a blank value, and so do we, but not a filter:
/// `name=` asks for the rows whose name is empty, and a link to the next page without it would lead into other rows.
fn stays_in_links(key: &str, value: &str) -> bool {
    !value.is_empty() || !key.starts_with('_') || key.contains("__")
}

/// Writes pairs as a query string, as Python's `urllib.parse.urlencode` does.
pub fn encode<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (key, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        encode_into(&mut out, key);
        out.push('=');
        encode_into(&mut out, value);
    }
    out
}

/// Appends one encoded key or value, as Python's `quote_plus` writes it.
pub fn encode_into(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(UPPER_HEX[usize::from(byte >> 4)]));
                out.push(char::from(UPPER_HEX[usize::from(byte & 15)]));
            }
        }
    }
}

/// `path` with `query` behind a `?`, or alone if there is no query.
pub fn join(path: &str, query: &str) -> String {
    if query.is_empty() {
        return path.to_owned();
    }
    let mut out = String::with_capacity(path.len() + 1 + query.len());
    out.push_str(path);
    out.push('?');
    out.push_str(query);
    out
}

/// Decodes one key or value; a `%` without two hexadecimal digits stays.
fn decode(text: &str) -> String {
    if memchr::memchr2(b'+', b'%', text.as_bytes()).is_none() {
        return text.to_owned();
    }
    let text = text.as_bytes();
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'+' => out.push(b' '),
            b'%' => match hex_byte(&text[at..]) {
                Some(decoded) => {
                    out.push(decoded);
                    at += 2;
                }
                None => out.push(b'%'),
            },
            _ => out.push(byte),
        }
    }
    match String::from_utf8(out) {
        Ok(decoded) => decoded,
        Err(invalid) => String::from_utf8_lossy(invalid.as_bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn pairs_are_decoded_and_blank_values_kept() {
        let query = QueryString::parse("a=1&b=&c&&=x&a=2+3&d=%C3%BC%zz%2&e=f=g;h=%FF");
        assert_eq!(
            query.pairs(),
            owned(&[
                ("a", "1"),
                ("b", ""),
                ("c", ""),
                ("", "x"),
                ("a", "2 3"),
                ("d", "ü%zz%2"),
                ("e", "f=g;h=\u{fffd}"),
            ])
        );
        assert_eq!(query.get("a"), Some("1"));
        assert_eq!(query.get_all("a").collect::<Vec<_>>(), ["1", "2 3"]);
        assert_eq!(query.get("missing"), None);
        assert!(query.contains("c") && !query.contains("C"));
        assert_eq!(
            query.keys().collect::<Vec<_>>(),
            ["a", "b", "c", "", "d", "e"]
        );
        assert_eq!(query.grouped()[0], ("a", vec!["1", "2 3"]));
        assert_eq!(query.grouped().len(), 6);
    }

    #[test]
    fn an_empty_query_has_no_pairs() {
        assert!(QueryString::parse("").pairs().is_empty());
        assert_eq!(QueryString::parse("").with_added(&[]), "");
    }

    #[test]
    fn encoding_is_that_of_python() {
        let pairs = [("a b", "c/d?e=f&g"), ("ü", "~_.-*'()!"), ("", "")];
        assert_eq!(
            encode(pairs.into_iter()),
            "a+b=c%2Fd%3Fe%3Df%26g&%C3%BC=~_.-%2A%27%28%29%21&="
        );
    }

    #[test]
    fn added_arguments_come_last_and_none_takes_a_key_out() {
        let query = QueryString::parse("_facet=a&_sort=x&_facet=b&q=1%202");
        assert_eq!(
            query.with_added(&[("_facet", Some("c")), ("_sort", None), ("n", Some(""))]),
            "_facet=a&_facet=b&q=1+2&_facet=c&n="
        );
    }

    #[test]
    fn replaced_arguments_take_every_old_pair_with_them() {
        let query = QueryString::parse("_sort=x&a=1&_sort=y&_next=9");
        assert_eq!(
            query.with_replaced(&[("_sort", Some("z")), ("_next", None)]),
            "a=1&_sort=z"
        );
    }

    #[test]
    fn removal_is_by_key_or_by_pair() {
        let query = QueryString::parse("_facet=a&_facet=b&state=CA");
        assert_eq!(query.with_removed_keys(&["_facet"]), "state=CA");
        assert_eq!(
            query.with_removed_pairs(&[("_facet", "a"), ("state", "NY")]),
            "_facet=b&state=CA"
        );
    }

    #[test]
    fn links_drop_blank_options_but_keep_blank_filters() {
        let query = QueryString::parse("_search=&name=&_city_id__exact=&_next=&_size=5&x");
        assert_eq!(query.with_added(&[]), "name=&_city_id__exact=&_size=5&x=");
    }

    #[test]
    fn a_path_without_a_query_has_no_question_mark() {
        assert_eq!(join("/a", ""), "/a");
        assert_eq!(join("/a", "b=1"), "/a?b=1");
    }

    proptest! {
        #[test]
        fn what_is_encoded_parses_back(pairs: Vec<(String, String)>) {
            let raw = encode(pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())));
            let query = QueryString::parse(&raw);
            prop_assert_eq!(query.pairs(), &pairs[..]);
        }

        #[test]
        fn any_text_parses(raw: String) {
            let query = QueryString::parse(&raw);
            prop_assert_eq!(query.raw(), &raw);
            prop_assert_eq!(query.grouped().iter().map(|(_, v)| v.len()).sum::<usize>(), query.pairs().len());
        }
    }
}
