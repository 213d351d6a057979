//! Games as lines of text: one for each move, one for each end.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use crate::{
    arena::GameSnapshot,
    cli::{demo::words, host::BOT},
    game::Snapshot,
    rules::{Color, History},
};

/// What has been told so far.
pub(super) struct Lines {
    /// How many games there will be, if there is an end.
    total: Option<u32>,
    time: String,
    games: Vec<Told>,
}

struct Told {
    id: String,
    history: History,
    is_over: bool,
}

impl Lines {
    pub(super) fn new(total: Option<u32>, time: String) -> Self {
        Self { total, time, games: Vec::new() }
    }

    /// Tells what is new in a game. `bot` is what our side thinks of it.
    pub(super) fn tell(
        &mut self,
        game: &GameSnapshot,
        bot: Option<&Snapshot>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let index = match self.games.iter().position(|told| told.id == game.id) {
            Some(index) => index,
            None => self.begin(game, out)?,
        };
        let told = &mut self.games[index];
        let number = index + 1;
        if told.is_over {
            return Ok(());
        }
        for uci in game.moves.iter().skip(told.history.moves().len()) {
            let line = move_line(&told.history, uci, game, bot);
            if told.history.play_uci(uci).is_err() {
                break;
            }
            writeln!(out, "game {number}: {line}")?;
        }
        if let Some(ending) = game.ending {
            told.is_over = true;
            let plies = game.moves.len();
            let result = words::result(game, ending);
            writeln!(out, "game {number}: over after {plies} plies: {result}")?;
        }
        Ok(())
    }

    fn begin(&mut self, game: &GameSnapshot, out: &mut impl Write) -> io::Result<usize> {
        let index = self.games.len();
        let of = self.total.map_or(String::new(), |total| format!(" of {total}"));
        let (white, black, time) = (&game.white, &game.black, &self.time);
        writeln!(out, "game {}{of}: {white} (white) against {black} (black), {time}", index + 1)?;
        let history = History::default();
        self.games.push(Told { id: game.id.clone(), history, is_over: false });
        Ok(index)
    }
}

/// `12. Nxf7   0:58 1:00   +1.35 depth 12 812 knps`
fn move_line(history: &History, uci: &str, game: &GameSnapshot, bot: Option<&Snapshot>) -> String {
    let position = history.position();
    let mover = position.turn();
    let dots = if mover == Color::White { "." } else { "..." };
    let san = position.parse_uci(uci).map_or(uci.to_owned(), |mv| position.san(mv));
    let mut line = format!("{:<14}", format!("{}{dots} {san}", position.fullmove_number()));
    let [white, black] = game.clocks.map(|left| left.map_or("-".to_owned(), words::clock));
    // Writing to a string does not fail.
    let _ = write!(line, " {white:>7} {black:>7}");
    let is_ours = BOT == if mover == Color::White { &game.white } else { &game.black };
    // A thought is about the newest of our moves only.
    let is_newest = history.moves().len() + 2 >= game.moves.len();
    if let Some(thought) = bot.and_then(|bot| bot.thought.as_ref()).filter(|_| is_ours && is_newest)
    {
        let value = words::evaluation(thought.evaluation);
        let speed = words::speed(thought.nps);
        let _ = write!(line, "   {value:>6} depth {} {speed}", thought.depth);
    }
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::arbiter::{Ending, Termination, TimeControl};

    fn game(moves: &str, ending: Option<Ending>) -> GameSnapshot {
        let second = Duration::from_secs(1);
        GameSnapshot {
            id: "w4itinG1".to_owned(),
            white: BOT.to_owned(),
            black: "QuietRook1".to_owned(),
            ratings: [2000, 1900],
            rated: false,
            control: TimeControl::RealTime { limit: 60 * second, increment: second },
            fen: String::new(),
            moves: moves.split_whitespace().map(str::to_owned).collect(),
            turn: Color::White,
            clocks: [Some(58 * second), Some(60 * second)],
            status: "started",
            ending,
        }
    }

    fn told(lines: &mut Lines, game: &GameSnapshot) -> String {
        let mut out = Vec::new();
        lines.tell(game, None, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_move_is_told_once_and_the_end_as_well() {
        let mut lines = Lines::new(Some(2), "60+1".to_owned());
        let first = told(&mut lines, &game("g1f3 a7a6", None));
        assert_eq!(
            first,
            "game 1 of 2: Meitner (white) against QuietRook1 (black), 60+1\n\
             game 1: 1. Nf3            0:58    1:00\n\
             game 1: 1... a6           0:58    1:00\n"
        );
        assert_eq!(told(&mut lines, &game("g1f3 a7a6", None)), "");
        let ending = Ending { winner: Some(Color::White), by: Termination::Explosion };
        let over = game("g1f3 a7a6 f3e5 a6a5 e5f7", Some(ending));
        let last = told(&mut lines, &over);
        assert!(
            last.ends_with("game 1: over after 5 plies: Meitner wins, king exploded\n"),
            "{last}"
        );
        assert!(last.contains("game 1: 3. Nxf7#"), "{last}");
        assert_eq!(told(&mut lines, &over), "");
    }
}
