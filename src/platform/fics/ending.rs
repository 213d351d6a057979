//! How a game ends: the line in braces with a score behind it (section 7 of the FICS notes).
//!
//! The score decides; the words only give the reason. Unknown words keep the score.

use crate::{game::EndReason, rules::Color};

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameEnd {
    /// The number of the game.
    pub game: u32,
    /// White and Black.
    pub players: [String; 2],
    /// Why it ended.
    pub reason: EndReason,
    /// Who won, if anybody did.
    pub winner: Option<Color>,
}

impl GameEnd {
    /// Reads `{Game 1 (A vs. B) …} 1-0`.
    pub fn parse(line: &str) -> Option<Self> {
        let (game, players, rest) = game(line)?;
        let (words, score) = rest.rsplit_once("} ")?;
        let (winner, has_result) = match score.trim_end() {
            "1-0" => (Some(Color::White), true),
            "0-1" => (Some(Color::Black), true),
            "1/2-1/2" => (None, true),
            "*" => (None, false),
            _ => return None,
        };
        Some(Self { game, players, reason: reason(words, has_result), winner })
    }
}

/// The number, the players, and the rest of a line that begins with `{Game N (A vs. B) `.
pub(super) fn game(line: &str) -> Option<(u32, [String; 2], &str)> {
    let (number, rest) = line.strip_prefix("{Game ")?.split_once(" (")?;
    let (players, rest) = rest.split_once(") ")?;
    let (white, black) = players.split_once(" vs. ")?;
    Some((number.parse().ok()?, [white.to_owned(), black.to_owned()], rest))
}

/// What the words say. Without a result the game is over for now, or was called off.
fn reason(words: &str, has_result: bool) -> EndReason {
    let ends = |text: &str| words.ends_with(text);
    if !has_result {
        return if words.contains("adjourned") { EndReason::Adjourned } else { EndReason::Aborted };
    }
    if ends("'s king exploded") {
        EndReason::VariantEnd
    } else if ends(" checkmated") {
        EndReason::Mate
    } else if ends(" resigns") {
        EndReason::Resign
    } else if ends(" forfeits by disconnection") {
        EndReason::Timeout
    } else if ends(" forfeits on time") || words.contains("ran out of time") {
        EndReason::OutOfTime
    } else if words == "Game drawn by stalemate" {
        EndReason::Stalemate
    } else if ends("adjudication") {
        EndReason::Other("adjudication".to_owned())
    } else if words.starts_with("Game drawn") || words == "Neither player has mating material" {
        EndReason::Draw
    } else {
        EndReason::Other(words.chars().take(80).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_end_is_understood() {
        use EndReason::{
            Aborted, Adjourned, Draw, Mate, Other, OutOfTime, Resign, Stalemate, Timeout,
            VariantEnd,
        };
        let (white, black) = (Some(Color::White), Some(Color::Black));
        let adjudication = || Other("adjudication".to_owned());
        for (words, score, reason, winner) in [
            ("B's king exploded", "1-0", VariantEnd, white),
            ("A's king exploded", "0-1", VariantEnd, black),
            ("A checkmated", "0-1", Mate, black),
            ("B resigns", "1-0", Resign, white),
            ("A forfeits on time", "0-1", OutOfTime, black),
            ("A forfeits by disconnection", "0-1", Timeout, black),
            ("A wins by adjudication", "1-0", adjudication(), white),
            ("Game drawn by stalemate", "1/2-1/2", Stalemate, None),
            ("Game drawn by mutual agreement", "1/2-1/2", Draw, None),
            ("Game drawn by repetition", "1/2-1/2", Draw, None),
            ("Game drawn by the 50 move rule", "1/2-1/2", Draw, None),
            ("Game drawn because both players ran out of time", "1/2-1/2", OutOfTime, None),
            ("A ran out of time and B has no material to mate", "1/2-1/2", OutOfTime, None),
            ("Neither player has mating material", "1/2-1/2", Draw, None),
            ("Game drawn due to length", "1/2-1/2", Draw, None),
            ("Game drawn by adjudication", "1/2-1/2", adjudication(), None),
            ("Game aborted on move 1", "*", Aborted, None),
            ("Game aborted by mutual agreement", "*", Aborted, None),
            ("Game courtesyaborted by A", "*", Aborted, None),
            ("Game aborted by server shutdown", "*", Aborted, None),
            ("Game aborted by adjudication", "*", Aborted, None),
            ("A lost connection and too few moves; game aborted", "*", Aborted, None),
            ("Game adjourned by mutual agreement", "*", Adjourned, None),
            ("A lost connection; game adjourned", "*", Adjourned, None),
            ("Game courtesyadjourned by A", "*", Adjourned, None),
            ("Game adjourned by server shutdown", "*", Adjourned, None),
            ("A turned into a pumpkin", "0-1", Other("A turned into a pumpkin".to_owned()), black),
        ] {
            let line = format!("{{Game 17 (A vs. B) {words}}} {score}");
            let end = GameEnd::parse(&line).unwrap();
            assert_eq!((end.game, end.reason, end.winner), (17, reason, winner), "{line}");
            assert_eq!(end.players, ["A", "B"]);
        }
    }

    #[test]
    fn other_lines_in_braces_are_no_ends() {
        for line in [
            "{Game 1 (A vs. B) Creating rated atomic match.}",
            "{Game x (A vs. B) A resigns} 1-0",
            "{Game 1 (A vs. B) A resigns} 2-0",
            "{Game 1 (A and B) A resigns} 1-0",
            "      {Still in progress} *",
            "",
        ] {
            assert_eq!(GameEnd::parse(line), None, "{line}");
        }
    }
}
