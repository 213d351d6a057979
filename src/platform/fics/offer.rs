//! Offers: the `<pf>`, `<pt>` and `<pr>` lines, and the terms of a match (section 4 of the FICS
//! notes).

use crate::platform::Speed;

/// Something that somebody offers, to us or from us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// By which it is accepted, declined or withdrawn.
    pub index: u32,
    /// The other side.
    pub with: String,
    /// What is offered.
    pub kind: OfferKind,
}

/// What is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// A game; `None` if its terms cannot be read.
    Match(Option<Box<Terms>>),
    /// A draw.
    Draw,
    /// To call the game off.
    Abort,
    /// To play on another day.
    Adjourn,
    /// To take back so many half-moves.
    Takeback(u32),
    /// Anything else, such as `switch` or `pause`.
    Other(String),
}

/// The terms of a game that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the line")]
pub struct Terms {
    /// Who offers it.
    pub from: String,
    /// The rating of whoever offers, if there is one.
    pub from_rating: Rating,
    /// Who is asked.
    pub to: String,
    /// The rating of whoever is asked.
    pub to_rating: Rating,
    /// Whether ratings are at stake.
    pub rated: bool,
    /// The kind of game, such as `atomic` or `blitz`.
    pub variant: String,
    /// Minutes at the start and increment in seconds; `None` without a limit of time.
    pub time: Option<(u32, u32)>,
    /// Whether both sides have the same time.
    pub is_even: bool,
    /// Whether it goes on with an adjourned game.
    pub is_adjourned: bool,
    /// Whether it begins from another position than the usual one.
    pub is_loaded: bool,
}

/// A rating as a line shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rating {
    /// The number, if there is one.
    pub value: Option<u32>,
    /// Whether it rests on few games, or is a guess.
    pub is_provisional: bool,
    /// Whether it is that of a guest.
    pub is_guest: bool,
}

impl Offer {
    /// Reads what follows `<pf> ` or `<pt> `.
    pub fn parse(text: &str) -> Option<Self> {
        let (index, rest) = text.split_once(' ')?;
        let (with, rest) = rest.strip_prefix("w=")?.split_once(' ')?;
        let (word, parameter) =
            rest.strip_prefix("t=")?.split_once(' ').unwrap_or((&rest[2..], ""));
        let parameter = parameter.strip_prefix("p=").unwrap_or(parameter);
        let kind = match word {
            "match" => OfferKind::Match(Terms::parse(parameter).map(Box::new)),
            "draw" => OfferKind::Draw,
            "abort" => OfferKind::Abort,
            "adjourn" => OfferKind::Adjourn,
            "takeback" => OfferKind::Takeback(parameter.parse().unwrap_or(1)),
            other => OfferKind::Other(other.to_owned()),
        };
        Some(Self { index: index.parse().ok()?, with: with.to_owned(), kind })
    }
}

/// The speeds of chess, which are kinds of game where no other kind is told.
pub(super) const SPEEDS: [&str; 5] = ["untimed", "lightning", "blitz", "standard", "slow"];

impl Terms {
    /// Reads terms such as `Alice (1558) [black] AtomBot (1882) rated atomic 3 0`, with or without
    /// a stop.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, from_rating, rest) = player(text.trim_end_matches('.'))?;
        let rest = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once("] ")?.1,
            None => rest,
        };
        let (to, to_rating, rest) = player(rest)?;
        let mut words = rest.split(' ').peekable();
        let rated = match words.next()? {
            "rated" => true,
            "unrated" => false,
            _ => return None,
        };
        // Some servers tell the speed as well, as in `rated blitz atomic`.
        let is_word = |word: &&str| !word.is_empty() && word.parse::<u32>().is_err();
        let mut variant = words.next().filter(is_word)?;
        while let Some(word) = words.next_if(|word| SPEEDS.contains(&variant) && is_word(word)) {
            variant = word;
        }
        let variant = variant.to_owned();
        let mut numbers = Vec::new();
        while let Some(number) = words.peek().and_then(|word| word.parse::<u32>().ok()) {
            numbers.push(number);
            words.next();
        }
        let note: Vec<&str> = words.collect();
        let note = note.join(" ");
        let time = match numbers[..] {
            [minutes, increment, ..] if (minutes, increment) != (0, 0) => {
                Some((minutes, increment))
            }
            _ => None,
        };
        Some(Self {
            from: from.to_owned(),
            from_rating,
            to: to.to_owned(),
            to_rating,
            rated,
            variant,
            time,
            is_even: numbers.len() < 4 || numbers[..2] == numbers[2..4],
            is_adjourned: note.contains("(adjourned)"),
            is_loaded: note.contains("Loaded from"),
        })
    }
}

impl Rating {
    /// Reads what stands between the brackets.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let digits = text.trim_end_matches(['E', 'P']);
        Self {
            value: digits.parse().ok(),
            is_provisional: digits.len() < text.len(),
            is_guest: text == "++++",
        }
    }
}

/// A name, the rating behind it in brackets, and what follows.
pub(super) fn player(text: &str) -> Option<(&str, Rating, &str)> {
    let (name, rest) = text.split_once(" (")?;
    let (rating, rest) = rest.split_once(')')?;
    let is_name = !name.is_empty() && !name.contains(' ');
    is_name.then(|| (name, Rating::parse(rating), rest.trim_start()))
}

/// The speed of a clock, by the time for 40 moves, as the policy counts it everywhere.
pub fn speed(initial_s: u32, increment_s: u32) -> Speed {
    match u64::from(initial_s) + 40 * u64::from(increment_s) {
        0..30 => Speed::UltraBullet,
        30..180 => Speed::Bullet,
        180..480 => Speed::Blitz,
        480..1500 => Speed::Rapid,
        _ => Speed::Classical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Terms {
        Terms::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn offers_of_all_kinds_are_read() {
        let offer = |text| Offer::parse(text).map(|offer| (offer.index, offer.with, offer.kind));
        let alice = || "Alice".to_owned();
        for (text, index, kind) in [
            ("1 w=Alice t=draw p=#", 1, OfferKind::Draw),
            ("22 w=Alice t=abort p=#", 22, OfferKind::Abort),
            ("3 w=Alice t=adjourn", 3, OfferKind::Adjourn),
            ("4 w=Alice t=takeback p=2", 4, OfferKind::Takeback(2)),
            ("5 w=Alice t=switch p=#", 5, OfferKind::Other("switch".to_owned())),
            ("6 w=Alice t=match p=what", 6, OfferKind::Match(None)),
        ] {
            assert_eq!(offer(text), Some((index, alice(), kind)), "{text}");
        }
        for bad in ["", "x w=Alice t=draw", "1 Alice", "1 w=Alice", "1 w=Alice x=draw p=1"] {
            assert_eq!(offer(bad), None, "{bad}");
        }
    }

    #[test]
    fn terms_are_read() {
        let found = terms("Alice (1558) [black] AtomBot (1882) rated atomic 3 0");
        assert_eq!((found.from.as_str(), found.to.as_str()), ("Alice", "AtomBot"));
        assert_eq!(found.from_rating.value, Some(1558));
        assert_eq!(found.to_rating.value, Some(1882));
        assert!(found.rated && found.is_even && !found.is_adjourned && !found.is_loaded);
        assert_eq!((found.variant.as_str(), found.time), ("atomic", Some((3, 0))));
        let found =
            terms("GuestVYPS (++++) GuestFCCW ( 943E) unrated wild/fr 2 12 3 0 (adjourned).");
        assert!(found.from_rating.is_guest && found.from_rating.value.is_none());
        assert_eq!(found.to_rating.value, Some(943));
        assert!(found.to_rating.is_provisional && !found.rated && found.is_adjourned);
        assert_eq!((found.variant.as_str(), found.is_even), ("wild/fr", false));
        let found = terms("A (----) B (----) rated blitz atomic 3 0");
        assert_eq!((found.variant.as_str(), found.time), ("atomic", Some((3, 0))));
        let found = terms("A (1) B (2) rated blitz 3 0 Loaded from wild/2");
        assert!(found.variant == "blitz" && found.is_loaded);
        assert_eq!(terms("A (----) B (UNR) unrated atomic").time, None);
        assert_eq!(terms("A (----) B (UNR) unrated atomic 0 0").time, None);
        assert!(terms("A (1) B (2) rated chess 1 0 Loaded from wild/2").is_loaded);
    }

    #[test]
    fn what_are_no_terms_is_not_read() {
        for bad in
            ["", "A", "A (1)", "A (1) B (2)", "A (1) B (2) rated", "A (1) B (2) x y", "(1) B"]
        {
            assert_eq!(Terms::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn speeds_go_by_forty_moves() {
        assert_eq!(speed(0, 1), Speed::Bullet);
        assert_eq!(speed(15, 0), Speed::UltraBullet);
        assert_eq!(speed(180, 0), Speed::Blitz);
        assert_eq!(speed(300, 5), Speed::Rapid);
        assert_eq!(speed(u32::MAX, u32::MAX), Speed::Classical);
    }
}
