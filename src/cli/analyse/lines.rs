//! The best lines of a running search, as rows of a table.

use std::{
    fmt::Write as _,
    io::{self, Write},
    time::Duration,
};

use crate::{
    cli::analyse::row,
    rules::{Color, Move, Position},
    search::{Info, Progress, Report, Wdl, wdl},
};

/// Lines that are too long end at the terminal's edge, so that the drawing keeps its height.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const CLEAR_TO_END: &str = "\x1b[K";

/// The lines found so far, and what is on the screen.
pub(super) struct Lines {
    position: Position,
    phase: f64,
    count: usize,
    is_terminal: bool,
    /// Those of the present iteration, the best first.
    infos: Vec<Info>,
    /// Lines of the last drawing, to be written over.
    height: usize,
}

impl Lines {
    pub(super) fn new(position: &Position, count: usize, is_terminal: bool) -> Self {
        let phase = wdl::phase(position);
        Self { position: position.clone(), phase, count, is_terminal, infos: Vec::new(), height: 0 }
    }

    /// The head of the table.
    pub(super) fn begin(out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nscores and chances are White's\n")?;
        writeln!(out, "{:>5} {:>7}  {:<20} line", "depth", "score", "win, draw, loss")?;
        out.flush()
    }

    /// Takes in a line. Piped, only the best is written.
    pub(super) fn line(&mut self, info: Info, out: &mut impl Write) -> io::Result<()> {
        if info.multipv <= 1 {
            self.infos.clear();
            if !self.is_terminal {
                writeln!(out, "{}", self.table_row(&info))?;
            }
        }
        self.infos.push(info);
        if self.is_terminal && self.infos.len() == self.count {
            let status = status(&self.infos[0]);
            self.draw(&status, out)?;
        }
        out.flush()
    }

    /// Shows that a long iteration goes on.
    pub(super) fn progress(&mut self, progress: &Progress, out: &mut impl Write) -> io::Result<()> {
        if !self.is_terminal {
            return Ok(());
        }
        let figures = figures(progress.nodes, progress.elapsed, progress.nps());
        let status = match progress.current {
            Some((mv, number)) => {
                let san = self.position.san(mv);
                format!("depth {}: {san}, move {number}; {figures}", progress.depth)
            }
            None => format!("depth {}; {figures}", progress.depth),
        };
        self.draw(&status, out)
    }

    /// Draws lines and status over the last drawing.
    fn draw(&mut self, status: &str, out: &mut impl Write) -> io::Result<()> {
        let mut text = String::from(NO_WRAP);
        if self.height > 0 {
            // Writing to a String cannot fail.
            let _ = write!(text, "\x1b[{}A", self.height);
        }
        let rows = self.infos.iter().map(|info| self.table_row(info));
        let rows: Vec<String> = rows.chain([status.to_owned()]).collect();
        for row in &rows {
            let _ = writeln!(text, "\r{row}{CLEAR_TO_END}");
        }
        text.push_str(WRAP);
        self.height = rows.len();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// The summary, below all that was written.
    pub(super) fn finish(&self, report: &Report, out: &mut impl Write) -> io::Result<()> {
        writeln!(out)?;
        if let Some(best) = report.best {
            row(out, "best move", self.position.san(best))?;
        }
        let lines =
            if self.infos.is_empty() { std::slice::from_ref(&report.info) } else { &self.infos };
        if !self.is_terminal && lines.len() > 1 {
            for (number, info) in lines.iter().enumerate() {
                row(out, &format!("line {}", number + 1), self.table_row(info))?;
            }
        }
        let info = &report.info;
        row(out, "depth", format!("{}, lines up to {} plies", info.depth, info.seldepth))?;
        row(out, "searched", figures(info.nodes, info.elapsed, info.nps()))?;
        out.flush()
    }

    fn table_row(&self, info: &Info) -> String {
        let white = self.position.turn() == Color::White;
        let score = score(info, white);
        let wdl = chances(info.score.wdl(self.phase), white);
        format!("{:>5} {score:>7}  {wdl:<20} {}", info.depth, self.sans(&info.pv))
    }

    /// A line in SAN, with the numbers of the moves.
    fn sans(&self, line: &[Move]) -> String {
        let mut position = self.position.clone();
        let mut words = Vec::with_capacity(line.len());
        for &mv in line {
            // What the table remembers of a line can be cut off, but is never wrong for long.
            if !position.is_legal(mv) {
                break;
            }
            let number = position.fullmove_number();
            let san = position.san(mv);
            words.push(match position.turn() {
                Color::White => format!("{number}.{san}"),
                Color::Black if words.is_empty() => format!("{number}...{san}"),
                Color::Black => san,
            });
            position = position.after(mv);
        }
        words.join(" ")
    }
}

/// A score from White's side, `+1.35`, or the moves to the end of the game, `#-4`.
fn score(info: &Info, is_white: bool) -> String {
    let sign = if is_white { 1 } else { -1 };
    match info.score.mate_in() {
        Some(moves) => format!("#{}", moves * sign),
        None => format!("{:+.2}", f64::from(info.score.centipawns() * sign) / 100.0),
    }
}

/// White's chances in percent.
fn chances(wdl: Wdl, is_white: bool) -> String {
    let percent = |permille: u32| f64::from(permille) / 10.0;
    let (win, loss) = if is_white { (wdl.win, wdl.loss) } else { (wdl.loss, wdl.win) };
    format!("{:.1}, {:.1}, {:.1} %", percent(win), percent(wdl.draw), percent(loss))
}

fn status(info: &Info) -> String {
    format!("depth {} done; {}", info.depth, figures(info.nodes, info.elapsed, info.nps()))
}

fn figures(nodes: u64, elapsed: Duration, nps: u64) -> String {
    format!("{nodes} nodes in {:.2} s, {} knps", elapsed.as_secs_f64(), nps / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Score;

    fn lines(fen: &str, is_terminal: bool, count: usize) -> Lines {
        Lines::new(&Position::from_fen(fen).unwrap(), count, is_terminal)
    }

    fn info(position: &Position, moves: &str, centipawns: i32, multipv: usize) -> Info {
        let mut history = crate::rules::History::new(position.clone());
        let pv = moves.split(' ').map(|uci| history.play_uci(uci).unwrap()).collect();
        let score = Score::from_centipawns(centipawns);
        Info { depth: 3, multipv, score, pv, ..Info::default() }
    }

    const BLACK: &str = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1";

    #[test]
    fn scores_are_those_of_white() {
        let lines = lines(BLACK, false, 1);
        let row = lines.table_row(&info(&lines.position, "f7f6 e2e3 e7e6", -50, 1));
        assert!(row.starts_with("    3   +0.50  "), "{row}");
        assert!(row.ends_with(" 1...f6 2.e3 e6"), "{row}");
        let chances = Score::from_centipawns(-50).wdl(1.0);
        assert!(chances.loss > chances.win);
        let expected = format!("{:.1}, ", f64::from(chances.loss) / 10.0);
        assert!(row.contains(&expected), "{row}");
    }

    #[test]
    fn a_terminal_gets_the_lines_of_an_iteration_at_once_and_in_place() {
        let mut lines = lines(BLACK, true, 2);
        let mut out = Vec::new();
        for multipv in [1, 2] {
            let info = info(&lines.position, "f7f6", 0, multipv);
            lines.line(info, &mut out).unwrap();
            assert_eq!(out.is_empty(), multipv == 1);
        }
        let first = String::from_utf8(std::mem::take(&mut out)).unwrap();
        assert_eq!(first.matches('\n').count(), 3, "{first}");
        assert!(!first.contains("\x1b[3A"), "{first}");
        lines.draw("again", &mut out).unwrap();
        let second = String::from_utf8(out).unwrap();
        assert!(second.starts_with("\x1b[?7l\x1b[3A") && second.ends_with(WRAP), "{second}");
    }
}
