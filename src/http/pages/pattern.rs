//! The address of a page with variables: `topic/{name}`.

use std::collections::HashSet;

/// Bytes of a path at the most: finding variables in a text takes the square of its length.
const LONGEST: usize = 1024;

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Any text without a slash, at least one character.
    Variable(String),
}

/// A page name with variables in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The name of the page.
    pub page: String,
    parts: Vec<Part>,
}

impl Pattern {
    /// Reads a name; `None` if its braces do not match or a variable's name is none.
    pub fn parse(page: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = page;
        while let Some((text, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}')?;
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_name || text.contains('}') {
                return None;
            }
            if !text.is_empty() {
                parts.push(Part::Text(text.to_owned()));
            }
            parts.push(Part::Variable(name.to_owned()));
            rest = after;
        }
        if rest.contains('}') {
            return None;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Some(Self {
            page: page.to_owned(),
            parts,
        })
    }

    /// Bytes of fixed text.
    pub fn fixed(&self) -> usize {
        let parts = self.parts.iter();
        let lengths = parts.map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Variable(_) => 0,
        });
        lengths.sum()
    }

    /// The variables of a path without its first slash; `None` if it is another page's.
    pub fn variables(&self, path: &str) -> Option<Vec<(String, String)>> {
        if path.len() > LONGEST {
            return None;
        }
        let mut search = Search {
            path,
            failed: HashSet::new(),
            values: Vec::new(),
        };
        search.matches(&self.parts, 0).then_some(search.values)
    }
}

/// A path that is held against a pattern.
struct Search<'p> {
    path: &'p str,
    /// Parts that are left and the place in the path where they do not match.
    failed: HashSet<(usize, usize)>,
    values: Vec<(String, String)>,
}

impl Search<'_> {
    /// Whether the path from `at` is made of `parts`. A variable takes as much as
    /// it can, and gives back what the rest needs.
    fn matches(&mut self, parts: &[Part], at: usize) -> bool {
        let path = self.path;
        let left = &path[at..];
        match parts {
            [] => left.is_empty(),
            [Part::Text(text), rest @ ..] => {
                left.starts_with(text.as_str()) && self.matches(rest, at + text.len())
            }
            [Part::Variable(name), rest @ ..] => {
                if !self.failed.insert((parts.len(), at)) {
                    return false;
                }
                let most = left.find('/').unwrap_or(left.len());
                let kept = self.values.len();
                let ends = left[..most].char_indices().map(|(n, c)| n + c.len_utf8());
                for end in ends.rev() {
                    self.values.truncate(kept);
                    self.values.push((name.clone(), left[..end].to_owned()));
                    if self.matches(rest, at + end) {
                        return true;
                    }
                }
                self.values.truncate(kept);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pattern: &str, path: &str) -> Option<String> {
        let values = Pattern::parse(pattern)
            .expect("a pattern")
            .variables(path)?;
        let values: Vec<String> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
        Some(values.join(" "))
    }

    #[test]
    fn a_variable_is_a_part_of_a_segment() {
        for (pattern, path, found) in [
            ("t/{a}", "t/x", Some("a=x")),
            ("t/{a}", "t/", None),
            ("t/{a}", "t/x/y", None),
            ("t/{a}/y", "t/x/y", Some("a=x")),
            ("{a}-{b}", "1-2-3", Some("a=1-2 b=3")),
            ("{a}-{b}", "12", None),
            ("{a}.txt", "é.txt", Some("a=é")),
            ("{a}{b}", "xyz", Some("a=xy b=z")),
            ("x{a}", "x", None),
        ] {
            assert_eq!(
                variables(pattern, path).as_deref(),
                found,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn braces_that_do_not_match_are_no_pattern() {
        for name in ["{a", "a}", "{}", "{a b}", "}{a}", "{1}", "{{a}}"] {
            assert_eq!(Pattern::parse(name), None, "{name}");
        }
    }
}
