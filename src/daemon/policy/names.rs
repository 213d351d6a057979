//! Lists of accounts, compared as the server compares them: in any case of letters.

use std::collections::BTreeSet;

/// No account's name is longer (section 3 of the protocol notes has none above 20; some old ones
/// have more).
const MAX_NAME_LENGTH: usize = 30;

/// Accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(BTreeSet<String>);

/// A line of a list that is no account's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} is {text:?}, but must be one name of letters, digits, - and _; a comment begins with #"
)]
pub struct ParseNamesError {
    /// Which line, from 1.
    pub line: usize,
    /// What stands there, shortened.
    pub text: String,
}

impl Names {
    /// Reads a list with one name a line. What follows a `#` is a comment; empty lines do not count.
    ///
    /// # Errors
    ///
    /// [`ParseNamesError`] for the first line that is no name.
    pub fn parse(text: &str) -> Result<Self, ParseNamesError> {
        let mut names = BTreeSet::new();
        for (number, line) in text.lines().enumerate() {
            let name = line.split('#').next().unwrap_or_default().trim();
            if is_name(name) {
                names.insert(name.to_ascii_lowercase());
            } else if !name.is_empty() {
                let text = name.chars().take(2 * MAX_NAME_LENGTH).collect();
                return Err(ParseNamesError { line: number + 1, text });
            }
        }
        Ok(Self(names))
    }

    /// A list that is not empty and on which nobody is.
    pub fn nobody() -> Self {
        // No account has this name.
        Self(BTreeSet::from([String::new()]))
    }

    /// All that are listed, by their ids in lower case.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether an account is listed, by its id in lower case.
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// Whether nobody is listed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Lists those of another list as well.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl<S: AsRef<str>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let names = names.into_iter().map(|name| name.as_ref().trim().to_ascii_lowercase());
        Self(names.filter(|name| !name.is_empty()).collect())
    }
}

fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= MAX_NAME_LENGTH && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_name_a_line_with_comments() {
        let names = Names::parse("# bores\r\nQuietRook7\n\n  soot-engine  # slow\n").unwrap();
        assert_eq!(names, ["soot-engine", " QUIETROOK7"].into_iter().collect());
        assert!(names.contains("quietrook7") && !names.contains("bores"));
        assert_eq!((names.len(), Names::parse("").unwrap().is_empty()), (2, true));
    }

    #[test]
    fn what_is_no_name_is_told_with_its_line() {
        for text in ["a b", "<html>", "name,other", "é", &"x".repeat(31)] {
            let error = Names::parse(&format!("good\n{text}\n")).unwrap_err();
            assert_eq!(error.line, 2, "{text}");
            assert!(error.to_string().starts_with("line 2 is \""), "{error}");
        }
    }
}
