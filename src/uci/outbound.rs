//! The engine's answers as lines of text.

use std::fmt::Write as _;

use crate::{
    rules::{CastlingNotation, Move},
    search::{Bound, Info, Progress, Report, Score, Update},
};

/// How the answers of one search are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) notation: CastlingNotation,
    /// The phase of the position, if chances are shown.
    pub(super) wdl_phase: Option<f64>,
}

impl Style {
    /// The line, or lines, for an update.
    pub(super) fn update(self, update: &Update) -> String {
        match update {
            Update::Info(info) => self.info(info),
            Update::Progress(progress) => self.progress(progress),
            Update::Report(report) => self.report(report),
        }
    }

    /// `info depth … pv …`
    fn info(self, info: &Info) -> String {
        let mut line = format!(
            "info depth {} seldepth {} multipv {} score {}",
            info.depth,
            info.seldepth,
            info.multipv.max(1),
            score(info.score)
        );
        // Writing to a String cannot fail.
        if let Some(phase) = self.wdl_phase {
            let wdl = info.score.wdl(phase);
            let _ = write!(line, " wdl {} {} {}", wdl.win, wdl.draw, wdl.loss);
        }
        line.push_str(match info.bound {
            Bound::Lower => " lowerbound",
            Bound::Upper => " upperbound",
            Bound::Exact => "",
        });
        line.push_str(&figures(info));
        if !info.pv.is_empty() {
            line.push_str(" pv");
            for mv in &info.pv {
                line.push(' ');
                line.push_str(&mv.uci(self.notation));
            }
        }
        line
    }

    fn progress(self, progress: &Progress) -> String {
        let mut line = format!("info depth {}", progress.depth);
        if let Some((mv, number)) = progress.current {
            let mv = mv.uci(self.notation);
            let _ = write!(line, " currmove {mv} currmovenumber {number}");
        }
        let _ = write!(
            line,
            " nodes {} nps {} hashfull {} time {}",
            progress.nodes,
            progress.nps(),
            progress.hashfull,
            progress.elapsed.as_millis()
        );
        line
    }

    /// The last figures, and `bestmove … ponder …`; `0000` where there is no legal move.
    fn report(self, report: &Report) -> String {
        let write = |mv: Option<Move>| mv.map_or("0000".to_owned(), |mv| mv.uci(self.notation));
        let info = &report.info;
        // Without a move no line has told the score.
        let mut text = match report.best {
            None => self.info(info),
            Some(_) => {
                format!("info depth {} seldepth {}{}", info.depth, info.seldepth, figures(info))
            }
        };
        let _ = write!(text, "\nbestmove {}", write(report.best));
        if let Some(ponder) = report.ponder {
            let _ = write!(text, " ponder {}", ponder.uci(self.notation));
        }
        text
    }
}

fn figures(info: &Info) -> String {
    format!(
        " nodes {} nps {} hashfull {} time {}",
        info.nodes,
        info.nps(),
        info.hashfull,
        info.elapsed.as_millis()
    )
}

fn score(score: Score) -> String {
    match score.mate_in() {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", score.centipawns()),
    }
}
