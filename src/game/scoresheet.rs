//! A game written down as it goes on: who plays, each move with what is known of it, and the end.
//!
//! The sheet follows the session, which stays as it is: it sees what came in and what was answered.
//! Pure.

use std::time::{Duration, Instant};

use crate::{
    game::{
        Action, Command, EndReason, Ending, Evaluation, Event, Input, Player, Session, TimeControl,
        record::Record,
    },
    rules::{Color, Move},
};

/// A game as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Scoresheet {
    /// The color that we play.
    pub our_color: Color,
    /// White, then Black, with their ratings before the game.
    pub players: [Player; 2],
    /// Whether ratings are at stake.
    pub rated: bool,
    /// How the time is counted.
    pub time_control: TimeControl,
    /// The FEN of the start position; `None` for the standard one.
    pub start_fen: Option<String>,
    /// The id of the tournament that the game belongs to.
    pub tournament: Option<String>,
    /// The moves so far.
    pub moves: Vec<Entry>,
    /// How it ended. A game of which we only lost sight has not.
    pub ending: Option<Ending>,
}

/// A move, with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The move.
    pub mv: Move,
    /// What the mover has left after it; `None` without a clock, or if it was not seen.
    pub clock: Option<Duration>,
    /// Of our moves that were searched: what the position after the move is worth to us.
    pub evaluation: Option<Evaluation>,
    /// How many plies were looked ahead for it.
    pub depth: Option<u32>,
    /// How long our move took to the server and back.
    pub lag: Option<Duration>,
}

impl Entry {
    /// A move of which nothing else is known.
    pub const fn new(mv: Move) -> Self {
        Self { mv, clock: None, evaluation: None, depth: None, lag: None }
    }
}

impl Scoresheet {
    fn begin(record: &Record) -> Self {
        let full = &record.full;
        Self {
            our_color: full.our_color,
            players: full.players.clone(),
            rated: full.rated,
            time_control: full.time_control,
            start_fen: full.initial_fen.clone(),
            tournament: full.tournament.clone(),
            moves: Vec::new(),
            ending: None,
        }
    }

    fn is_of(&self, record: &Record) -> bool {
        self.our_color == record.full.our_color && self.start_fen == record.full.initial_fen
    }
}

/// Writes the sheet of one game.
#[derive(Debug, Default)]
pub(super) struct Scorer {
    sheet: Option<Scoresheet>,
    sent: Option<Sent>,
}

/// A move of ours on its way.
#[derive(Debug)]
struct Sent {
    ply: usize,
    entry: Entry,
    at: Instant,
}

/// What an input tells the scorer, kept while the session has the input.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// When a line arrived, if it was one.
    arrived: Option<Instant>,
    /// Evaluation and depth of the search that ended, if one did and found something.
    found: Option<(Evaluation, u32)>,
}

impl Seen {
    pub(super) fn of(input: &Input) -> Self {
        match input {
            Input::Server(arrived) if matches!(arrived.event, Event::Full(_) | Event::State(_)) => {
                Self { arrived: Some(arrived.at), found: None }
            }
            // One that was stopped before it finished anything has an evaluation that means nothing.
            Input::Found(found) if found.thought.depth > 0 => {
                let thought = &found.thought;
                Self { arrived: None, found: Some((thought.evaluation, thought.depth)) }
            }
            _ => Self::default(),
        }
    }
}

impl Scorer {
    /// The sheet, once the server has told of the game.
    pub(super) fn sheet(&self) -> Option<&Scoresheet> {
        self.sheet.as_ref()
    }

    /// Takes in what the session made of an input, and tells whether the sheet has changed.
    pub(super) fn follow(
        &mut self,
        seen: &Seen,
        session: &Session,
        actions: &[Action],
        now: Instant,
    ) -> bool {
        let Some(record) = session.record() else { return false };
        let mut is_new = false;
        if let Some(arrived) = seen.arrived {
            is_new |= self.read(record, arrived);
        }
        for action in actions {
            match action {
                Action::Send(Command::Play { ply, mv, .. }) => {
                    let (evaluation, depth) = seen.found.unzip();
                    let entry = Entry { evaluation, depth, ..Entry::new(*mv) };
                    self.sent = Some(Sent { ply: *ply, entry, at: now });
                }
                // What may go on has not ended.
                Action::Finish(ending)
                    if !matches!(ending.reason, EndReason::Lost(_) | EndReason::Adjourned) =>
                {
                    if let Some(sheet) = &mut self.sheet {
                        sheet.ending = Some(ending.clone());
                        is_new = true;
                    }
                }
                _ => {}
            }
        }
        is_new
    }

    /// Brings the sheet to the game as the server tells it, and says whether it has changed.
    fn read(&mut self, record: &Record, arrived: Instant) -> bool {
        let mut is_new = false;
        if self.sheet.as_ref().is_none_or(|sheet| !sheet.is_of(record)) {
            self.sheet = Some(Scoresheet::begin(record));
            is_new = true;
        }
        let Some(sheet) = &mut self.sheet else { return false };
        let played = record.history.moves();
        let known = sheet.moves.iter().zip(played).take_while(|(entry, mv)| entry.mv == **mv);
        let known = known.count();
        is_new |= known < sheet.moves.len() || known < played.len();
        sheet.moves.truncate(known);
        for (ply, &mv) in played.iter().enumerate().skip(known) {
            let sent = self.sent.take_if(|sent| sent.ply == ply && sent.entry.mv == mv);
            let entry = sent.map_or(Entry::new(mv), |sent| {
                let lag = Some(arrived.saturating_duration_since(sent.at));
                Entry { lag, ..sent.entry }
            });
            sheet.moves.push(entry);
        }
        if known < played.len()
            && matches!(sheet.time_control, TimeControl::Clock { .. })
            && let Some(newest) = sheet.moves.last_mut()
        {
            // Of the clocks in a line that of the latest mover does not run.
            let mover = !record.history.position().turn();
            newest.clock = Some(record.clock.remaining[mover.index()]);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{
        Arrived, Found, GameFull, GameResult, GameState, Lag, LostReason, Options, Status, Thought,
    };

    /// A session and its scorer, with a time that only the test moves.
    struct Table {
        session: Session,
        scorer: Scorer,
        now: Instant,
    }

    fn state(moves: &str, remaining_s: [u64; 2]) -> GameState {
        GameState {
            moves: moves.split_whitespace().map(str::to_owned).collect(),
            remaining: remaining_s.map(Duration::from_secs),
            increment: [Duration::ZERO; 2],
            status: Status::Running,
            winner: None,
            draw_offer: [false; 2],
            takeback_offer: [false; 2],
            expiration: None,
        }
    }

    fn full(state: GameState) -> Event {
        Event::Full(Box::new(GameFull {
            our_color: Color::White,
            players: [Player::default(), Player { name: "them".to_owned(), ..Player::default() }],
            initial_fen: None,
            time_control: TimeControl::Clock {
                initial: Duration::from_mins(1),
                increment: Duration::ZERO,
            },
            rated: true,
            tournament: None,
            is_abortable: true,
            draws_are_claimed: false,
            state,
        }))
    }

    impl Table {
        fn new() -> Self {
            let session = Session::new("abcd1234".parse().unwrap(), Options::default());
            Self { session, scorer: Scorer::default(), now: Instant::now() }
        }

        fn input(&mut self, input: Input) -> bool {
            let seen = Seen::of(&input);
            let actions = self.session.handle(input, self.now);
            self.scorer.follow(&seen, &self.session, &actions, self.now)
        }

        fn line(&mut self, event: Event) -> bool {
            self.input(Input::Server(Arrived { at: self.now, lag: Lag::default(), event }))
        }

        fn found(&mut self, best: &str, centipawns: i32) -> bool {
            let position = self.session.record().unwrap().history.position();
            let best = Some(position.parse_uci(best).unwrap());
            let evaluation = Evaluation { centipawns, mate_in: None };
            let thought = Thought { depth: 9, evaluation, ..Thought::default() };
            self.input(Input::Found(Found { best, ponder: None, thought }))
        }

        fn pass(&mut self, ms: u64) {
            self.now += Duration::from_millis(ms);
        }

        /// Moves with clock, centipawns, depth and lag, as text.
        fn moves(&self) -> Vec<String> {
            let entry = |entry: &Entry| {
                let cp = entry.evaluation.map(|evaluation| evaluation.centipawns);
                let lag = entry.lag.map(|lag| lag.as_millis());
                let clock = entry.clock.map(|clock| clock.as_secs());
                format!("{} {clock:?} {cp:?} {:?} {lag:?}", entry.mv, entry.depth)
            };
            self.scorer.sheet().unwrap().moves.iter().map(entry).collect()
        }
    }

    const UNKNOWN: &str = "None None None None";

    #[test]
    fn each_move_is_written_with_its_clock_and_ours_with_what_was_thought() {
        let mut table = Table::new();
        assert!(table.line(full(state("", [60, 60]))));
        assert!(!table.found("e2e4", 30), "it is not played before the server says so");
        table.pass(40);
        assert!(table.line(Event::State(state("e2e4", [59, 60]))));
        assert!(!table.line(Event::State(state("e2e4", [59, 60]))), "nothing new");
        assert!(table.line(Event::State(state("e2e4 e7e5", [59, 58]))));
        table.found("g1f3", -12);
        table.pass(7);
        table.line(Event::State(state("e2e4 e7e5 g1f3", [55, 58])));
        let moves = [
            "e2e4 Some(59) Some(30) Some(9) Some(40)",
            "e7e5 Some(58) None None None",
            "g1f3 Some(55) Some(-12) Some(9) Some(7)",
        ];
        assert_eq!(table.moves(), moves);
    }

    #[test]
    fn moves_that_were_missed_have_no_clock() {
        let mut table = Table::new();
        table.line(full(state("e2e4 e7e5 g1f3", [50, 58])));
        let moves = [format!("e2e4 {UNKNOWN}"), format!("e7e5 {UNKNOWN}")];
        assert_eq!(table.moves()[..2], moves);
        assert_eq!(table.moves()[2], "g1f3 Some(50) None None None");
    }

    #[test]
    fn what_is_taken_back_is_struck_out() {
        let mut table = Table::new();
        table.line(full(state("e2e4 e7e5", [60, 60])));
        table.found("g1f3", 5);
        table.line(Event::State(state("e2e4 e7e5 g1f3", [50, 60])));
        table.line(Event::State(state("e2e4 e7e5 g1f3 f7f6", [50, 40])));
        assert!(table.line(Event::State(state("e2e4 e7e5", [50, 40]))));
        assert_eq!(table.moves().len(), 2);
        table.found("b1c3", 6);
        table.line(Event::State(state("e2e4 e7e5 b1c3", [45, 40])));
        assert_eq!(table.moves()[2], "b1c3 Some(45) Some(6) Some(9) Some(0)");
    }

    #[test]
    fn the_end_is_written_but_not_that_we_lost_sight() {
        let mut table = Table::new();
        table.line(full(state("e2e4 e7e5", [60, 60])));
        assert!(!table.line(Event::Lost(LostReason::Disconnected)));
        assert_eq!(table.scorer.sheet().unwrap().ending, None);

        let mut table = Table::new();
        table.line(full(state("e2e4 e7e5", [60, 60])));
        let (status, winner) = (Status::Over(EndReason::Resign), Some(Color::White));
        assert!(table.line(Event::State(GameState {
            status,
            winner,
            ..state("e2e4 e7e5", [60, 60])
        })));
        let ending = table.scorer.sheet().unwrap().ending.clone().unwrap();
        assert_eq!((ending.result, ending.reason), (GameResult::Won, EndReason::Resign));
    }

    #[test]
    fn a_move_without_a_thought_has_no_evaluation() {
        let mut table = Table::new();
        table.line(full(state("", [60, 60])));
        let position = table.session.record().unwrap().history.position();
        let best = Some(position.parse_uci("e2e4").unwrap());
        table.input(Input::Found(Found { best, ponder: None, thought: Thought::default() }));
        table.line(Event::State(state("e2e4", [59, 60])));
        assert_eq!(table.moves(), ["e2e4 Some(59) None None Some(0)"]);
    }
}
