//! The tags of a game: pairs of a name and a text, in the order in which lichess writes them.

use std::borrow::Cow;

use crate::pgn::{MOST_VALUE_BYTES, cut};

/// The names that have a place of their own, in lichess' order: the seven of the roster, then the
/// rest. Names that are not here follow, in the order in which they came.
const ORDER: [&str; 23] = [
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "Result",
    "GameId",
    "UTCDate",
    "UTCTime",
    "WhiteElo",
    "BlackElo",
    "WhiteRatingDiff",
    "BlackRatingDiff",
    "WhiteTitle",
    "BlackTitle",
    VARIANT,
    "TimeControl",
    "ECO",
    "Opening",
    "Termination",
    FEN,
    SET_UP,
];

pub(super) const RESULT: &str = "Result";
pub(super) const VARIANT: &str = "Variant";
pub(super) const FEN: &str = "FEN";
pub(super) const SET_UP: &str = "SetUp";

/// The tags that every game has when it is written, each with what stands for "not known".
pub(super) const ROSTER: [(TagName, &str); 6] = [
    (TagName::EVENT, "?"),
    (TagName::SITE, "?"),
    (TagName::DATE, "????.??.??"),
    // As lichess has it.
    (TagName::ROUND, "-"),
    (TagName::WHITE, "?"),
    (TagName::BLACK, "?"),
];

/// The name of a tag that a game can be given. `Result`, `Variant`, `FEN` and `SetUp` are none:
/// they follow from the game itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagName(Cow<'static, str>);

#[expect(missing_docs, reason = "the names are those of the tags")]
impl TagName {
    pub const EVENT: Self = Self(Cow::Borrowed("Event"));
    pub const SITE: Self = Self(Cow::Borrowed("Site"));
    pub const DATE: Self = Self(Cow::Borrowed("Date"));
    pub const ROUND: Self = Self(Cow::Borrowed("Round"));
    pub const WHITE: Self = Self(Cow::Borrowed("White"));
    pub const BLACK: Self = Self(Cow::Borrowed("Black"));
    pub const GAME_ID: Self = Self(Cow::Borrowed("GameId"));
    pub const UTC_DATE: Self = Self(Cow::Borrowed("UTCDate"));
    pub const UTC_TIME: Self = Self(Cow::Borrowed("UTCTime"));
    pub const WHITE_ELO: Self = Self(Cow::Borrowed("WhiteElo"));
    pub const BLACK_ELO: Self = Self(Cow::Borrowed("BlackElo"));
    pub const WHITE_RATING_DIFF: Self = Self(Cow::Borrowed("WhiteRatingDiff"));
    pub const BLACK_RATING_DIFF: Self = Self(Cow::Borrowed("BlackRatingDiff"));
    pub const WHITE_TITLE: Self = Self(Cow::Borrowed("WhiteTitle"));
    pub const BLACK_TITLE: Self = Self(Cow::Borrowed("BlackTitle"));
    pub const TIME_CONTROL: Self = Self(Cow::Borrowed("TimeControl"));
    pub const TERMINATION: Self = Self(Cow::Borrowed("Termination"));
}

impl TagName {
    /// A name: 1 to 255 letters, digits and underscores of ASCII. `None` for others, and for those
    /// that follow from the game.
    pub fn new(name: &str) -> Option<Self> {
        let is_name = (1..=255).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_free = ![RESULT, VARIANT, FEN, SET_UP].contains(&name);
        (is_name && is_free).then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The tags of a game, each name once, in lichess' order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags(Vec<(TagName, String)>);

impl Tags {
    /// Sets a tag, or replaces its value. Control characters become spaces, for which PGN has no
    /// notation, and the value is cut after [`MOST_VALUE_BYTES`]. What stands for "not known" in one of
    /// the seven tags that every game has takes the tag away.
    pub fn set(&mut self, name: TagName, value: impl AsRef<str>) {
        let value = cut(value.as_ref(), MOST_VALUE_BYTES).replace(char::is_control, " ");
        self.0.retain(|(known, _)| *known != name);
        if !is_unknown(&name, &value) {
            let rank = rank(name.as_str());
            let place = self.0.partition_point(|(known, _)| self::rank(known.as_str()) <= rank);
            self.0.insert(place, (name, value));
        }
    }

    /// The value of a tag.
    pub fn get(&self, name: &TagName) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All tags, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The place of a name in the order.
pub(super) fn rank(name: &str) -> usize {
    ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len())
}

fn is_unknown(name: &TagName, value: &str) -> bool {
    ROSTER.iter().any(|(known, unknown)| known == name && (value == *unknown || value == "?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_in_lichess_order_and_once() {
        let mut tags = Tags::default();
        tags.set(TagName::new("Zebra").unwrap(), "1");
        tags.set(TagName::TERMINATION, "Normal");
        tags.set(TagName::new("Apple").unwrap(), "2");
        tags.set(TagName::WHITE, "first");
        tags.set(TagName::EVENT, "?");
        tags.set(TagName::WHITE, "a\nb");
        let found: Vec<_> = tags.iter().collect();
        let expected =
            [("White", "a b"), ("Termination", "Normal"), ("Zebra", "1"), ("Apple", "2")];
        assert_eq!(found, expected);
        tags.set(TagName::WHITE, "?");
        assert_eq!(tags.get(&TagName::WHITE), None);
    }

    #[test]
    fn names_are_checked() {
        for name in ["", "White Elo", "Größe", "a\"b", "Result", "FEN", "SetUp", "Variant"] {
            assert_eq!(TagName::new(name), None, "{name}");
        }
        assert_eq!(TagName::new("White"), Some(TagName::WHITE));
        assert_eq!(TagName::new(&"a".repeat(256)), None);
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let mut tags = Tags::default();
        tags.set(TagName::SITE, "ä".repeat(MOST_VALUE_BYTES));
        assert_eq!(tags.get(&TagName::SITE).map(str::len), Some(MOST_VALUE_BYTES));
        tags.set(TagName::SITE, format!("x{}", "ä".repeat(MOST_VALUE_BYTES)));
        assert_eq!(tags.get(&TagName::SITE).map(str::len), Some(MOST_VALUE_BYTES - 1));
    }
}
