//! The `<12>` line: a position, its clocks, and the move that led to it (section 3 of the FICS
//! notes).
//!
//! Only what the line says. What of it is to be believed is in [`rules`](super::rules).

use std::time::Duration;

use crate::rules::Color;

const TAG: &str = "<12> ";
/// Old servers stop after so many fields; later ones only add some.
const LEAST_FIELDS: usize = 30;
/// Clocks beyond this are nonsense, and would overflow what is counted with them.
const LONGEST_CLOCK: Duration = Duration::from_hours(24 * 365);

/// What a `<12>` line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The men as FEN has them. After an explosion a king may be missing.
    pub placement: String,
    /// Whose turn it is.
    pub turn: Color,
    /// The file, from 0, of a pawn that has just made a double step.
    pub double_step: Option<u8>,
    /// White's short and long castling, then Black's; no more than a claim.
    pub castling: [bool; 4],
    /// Half-moves since the last capture or pawn move.
    pub halfmove_clock: u16,
    /// The number of the game, which another game will have later.
    pub game: u32,
    /// White and Black, without titles.
    pub players: [String; 2],
    /// What the game is to us.
    pub relation: Relation,
    /// The time at the start; zero together with the increment if there is no limit.
    pub initial: Duration,
    /// The increment.
    pub increment: Duration,
    /// What White and Black have left; nothing if a flag has fallen.
    pub remaining: [Duration; 2],
    /// The number of the move that comes next.
    pub move_number: u32,
    /// The move that led here.
    pub last_move: Option<LastMove>,
    /// Whether the clock runs.
    pub is_clock_running: bool,
}

/// What a game is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// We play and are to move.
    OurTurn,
    /// We play and the opponent is to move.
    TheirTurn,
    /// Anything else: we watch, or examine, or it is only a position.
    NotOurs,
}

/// A move as the line has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastMove {
    /// `o-o`.
    CastleShort,
    /// `o-o-o`.
    CastleLong,
    /// `P/e2-e4` or `P/a7-a8=N`, in the letters of UCI.
    Step {
        /// Origin and target, as in `e2e4`.
        squares: [u8; 4],
        /// What a pawn has become, as in `n`.
        promotion: Option<u8>,
    },
}

impl Board {
    /// Reads a line; `None` if it is none of these, or cannot be read.
    pub fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.strip_prefix(TAG)?.split_ascii_whitespace().collect();
        if fields.len() < LEAST_FIELDS {
            return None;
        }
        let castling: Vec<bool> = fields[10..14].iter().map(|&field| field == "1").collect();
        let unit = Unit::of(fields[27]);
        Some(Self {
            placement: placement(&fields[..8])?,
            turn: match fields[8] {
                "W" => Color::White,
                "B" => Color::Black,
                _ => return None,
            },
            double_step: fields[9].parse().ok().filter(|&file| file < 8),
            castling: castling.try_into().ok()?,
            halfmove_clock: fields[14].parse().ok()?,
            game: fields[15].parse().ok()?,
            players: [fields[16].to_owned(), fields[17].to_owned()],
            relation: match fields[18] {
                "1" => Relation::OurTurn,
                "-1" => Relation::TheirTurn,
                _ => Relation::NotOurs,
            },
            initial: Duration::from_secs(60 * fields[19].parse::<u32>().ok().map(u64::from)?),
            increment: Duration::from_secs(fields[20].parse::<u32>().ok().map(u64::from)?),
            remaining: [unit.read(fields[23])?, unit.read(fields[24])?],
            move_number: fields[25].parse().ok().filter(|&number| number > 0)?,
            last_move: LastMove::parse(fields[26]),
            is_clock_running: fields.get(30) == Some(&"1"),
        })
    }

    /// How many half-moves the game has.
    pub fn ply(&self) -> usize {
        let full_moves = usize::try_from(self.move_number - 1).unwrap_or(usize::MAX / 4);
        full_moves.saturating_mul(2) + usize::from(self.turn == Color::Black)
    }

    /// Our color, if we play.
    pub fn our_color(&self) -> Option<Color> {
        match self.relation {
            Relation::OurTurn => Some(self.turn),
            Relation::TheirTurn => Some(!self.turn),
            Relation::NotOurs => None,
        }
    }
}

/// What the clocks of a line are counted in: the setting `ms` changes it.
#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Milliseconds,
}

impl Unit {
    /// The time taken for the last move, `(0:06)` or `(0:06.357)`, tells.
    fn of(time_taken: &str) -> Self {
        if time_taken.contains('.') { Self::Milliseconds } else { Self::Seconds }
    }

    fn read(self, field: &str) -> Option<Duration> {
        let number = u64::try_from(field.parse::<i64>().ok()?.max(0)).ok()?;
        let time = match self {
            Self::Seconds => Duration::from_secs(number),
            Self::Milliseconds => Duration::from_millis(number),
        };
        Some(time.min(LONGEST_CLOCK))
    }
}

/// The eight ranks, of eight letters each, as FEN has them.
fn placement(ranks: &[&str]) -> Option<String> {
    let mut text = String::with_capacity(72);
    for rank in ranks {
        if rank.len() != 8 || !rank.bytes().all(|letter| b"-PNBRQKpnbrqk".contains(&letter)) {
            return None;
        }
        if !text.is_empty() {
            text.push('/');
        }
        let mut gap = 0;
        for letter in rank.chars().chain([' ']) {
            if letter == '-' {
                gap += 1;
                continue;
            }
            if gap > 0 {
                text.push(char::from(b'0' + gap));
                gap = 0;
            }
            if letter != ' ' {
                text.push(letter);
            }
        }
    }
    Some(text)
}

impl LastMove {
    /// Reads the long form; what may stand behind it, as `ep` on some servers, is passed over.
    fn parse(text: &str) -> Option<Self> {
        match text {
            "o-o" | "O-O" => return Some(Self::CastleShort),
            "o-o-o" | "O-O-O" => return Some(Self::CastleLong),
            _ => {}
        }
        let (_, squares) = text.split_once('/')?;
        let bytes = squares.as_bytes();
        let is_square = |square: &[u8]| {
            (b'a'..=b'h').contains(&square[0]) && (b'1'..=b'8').contains(&square[1])
        };
        if bytes.len() < 5 || bytes[2] != b'-' || !is_square(bytes) || !is_square(&bytes[3..]) {
            return None;
        }
        let promotion = match bytes.get(5..7) {
            Some([b'=', letter]) => Some(letter.to_ascii_lowercase()),
            _ => None,
        };
        let promotion = promotion.filter(|letter| b"nbrq".contains(letter));
        Some(Self::Step { squares: [bytes[0], bytes[1], bytes[3], bytes[4]], promotion })
    }

    /// The move in UCI notation, made by this color.
    pub fn uci(self, by: Color) -> String {
        let rank = if by == Color::White { '1' } else { '8' };
        match self {
            Self::CastleShort => format!("e{rank}g{rank}"),
            Self::CastleLong => format!("e{rank}c{rank}"),
            Self::Step { squares, promotion } => {
                squares.into_iter().chain(promotion).map(char::from).collect()
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const AFTER_E4: &str = "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP \
        RNBQKBNR B 4 1 1 1 1 0 1 AtomBot Alice -1 3 2 39 39 180000 179250 1 P/e2-e4 (0:00.000) e4 \
        0 0 0";

    #[test]
    fn a_line_is_read() {
        let board = Board::parse(AFTER_E4).unwrap();
        assert_eq!(board.placement, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
        assert_eq!((board.turn, board.double_step, board.ply()), (Color::Black, Some(4), 1));
        assert_eq!((board.game, board.castling), (1, [true; 4]));
        assert_eq!(board.players, ["AtomBot", "Alice"]);
        assert_eq!((board.relation, board.our_color()), (Relation::TheirTurn, Some(Color::White)));
        assert_eq!(board.initial, Duration::from_mins(3));
        assert_eq!(board.increment, Duration::from_secs(2));
        assert_eq!(board.remaining, [180_000, 179_250].map(Duration::from_millis));
        assert_eq!(board.last_move.unwrap().uci(Color::White), "e2e4");
        assert!(!board.is_clock_running);
    }

    #[test]
    fn clocks_are_in_seconds_without_the_setting_and_never_below_zero() {
        let line = AFTER_E4.replace("(0:00.000)", "(0:00)").replace("180000 179250", "10 -3");
        let remaining = Board::parse(&line).unwrap().remaining;
        assert_eq!(remaining, [Duration::from_secs(10), Duration::ZERO]);
        let line = AFTER_E4.replace("180000", "9223372036854775807");
        assert_eq!(Board::parse(&line).unwrap().remaining[0], LONGEST_CLOCK);
    }

    #[test]
    fn fields_may_be_missing_at_the_end_or_added_there() {
        let short = AFTER_E4.rsplitn(3, ' ').nth(2).unwrap();
        assert_eq!(Board::parse(short).unwrap().game, 1);
        assert!(Board::parse(&format!("{AFTER_E4} 1 2 new")).is_some());
        assert!(Board::parse(short.rsplit_once(' ').unwrap().0).is_none());
    }

    #[test]
    fn moves_are_read_in_the_long_form() {
        for (text, by, uci) in [
            ("P/e2-e4", Color::White, Some("e2e4")),
            ("P/a7-a8=N", Color::White, Some("a7a8n")),
            ("P/e5-d6ep", Color::White, Some("e5d6")),
            ("o-o", Color::White, Some("e1g1")),
            ("o-o-o", Color::Black, Some("e8c8")),
            ("none", Color::Black, None),
            ("P/e9-e4", Color::White, None),
            ("P/e2", Color::White, None),
            ("P/ä2-e4", Color::White, None),
        ] {
            let found = LastMove::parse(text).map(|mv| mv.uci(by));
            assert_eq!(found.as_deref(), uci, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_board() {
        for (from, to) in [
            ("<12>", "<13>"),
            ("rnbqkbnr", "rnbqkbn"),
            ("rnbqkbnr", "rnbqkbnx"),
            ("RNBQKBNR B", "RNBQKBNR X"),
            ("180000", "soon"),
            ("179250 1", "179250 0"),
        ] {
            assert_eq!(Board::parse(&AFTER_E4.replacen(from, to, 1)), None, "{from} {to}");
        }
    }
}
