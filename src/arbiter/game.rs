//! One game under an arbiter: commands of both sides in, an ending out.

use std::time::{Duration, Instant};

use crate::{
    arbiter::{Clocks, TimeControl},
    rules::{Color, DrawReason, History, Move, Outcome, Position, WinReason},
};

/// A side may offer a draw again when more plies than this have passed since its last offer.
const PLIES_BETWEEN_DRAW_OFFERS: usize = 20;

/// A game of more plies than this is drawn.
const MAX_PLIES: usize = 600;

/// Until so many plies are played a game has not begun: it can be aborted, where that is allowed at
/// all, and cannot be drawn or claimed.
const OPENING_PLIES: usize = 2;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Who won; `None` for a draw or an aborted game.
    pub winner: Option<Color>,
    /// Why the game is over.
    pub by: Termination,
}

/// Why a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// A king exploded (R4).
    Explosion,
    /// The side to move is in check and has no move (R20).
    Checkmate,
    /// A draw by the rules of the game (R21, R22).
    Rule(DrawReason),
    /// Both sides agreed on a draw (R23).
    Agreement,
    /// A side offered a draw to a bare king, which can never win.
    BareKingClaim,
    /// The game became longer than 600 plies.
    TooLong,
    /// A side gave up (R23).
    Resignation,
    /// A side ran out of time; no winner if the other has a bare king or was offering a draw.
    TimeForfeit,
    /// A side left, and the other claimed the game.
    Abandonment,
    /// Called off before both sides had moved: no result.
    Aborted,
    /// A side did not make its first move in time.
    NoStart,
}

/// Why the arbiter refuses a command. Nothing has changed unless the text says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The game is over.
    #[error("the game is over")]
    GameOver,
    /// The other side is to move.
    #[error("it is the other side's turn")]
    NotYourTurn,
    /// The move breaks the rules.
    #[error("illegal move {0}")]
    IllegalMove(Move),
    /// Both sides have moved, so that the game cannot be called off any more.
    #[error("the game can no longer be aborted")]
    NotAbortable,
    /// The opponent is not away for long enough; or the claim ended the game otherwise.
    #[error("the claim is not granted")]
    NotClaimable,
    /// The side has made its first move, or has berserked before.
    #[error("it is too late to berserk")]
    TooLateToBerserk,
}

/// A game from its first move to its ending.
#[derive(Clone, Debug)]
pub struct Game {
    history: History,
    clocks: Clocks,
    ending: Option<Ending>,
    draw_offer: Option<Color>,
    /// The ply of each side's latest draw offer.
    last_draw_offer: [Option<usize>; 2],
    takeback_proposal: Option<Color>,
    /// Since when each side is away.
    away_since: [Option<Instant>; 2],
    /// How long a side must be away before the other may claim the game.
    patience: Duration,
    /// Whether the game may be called off at its beginning.
    may_abort: bool,
}

impl Game {
    /// A game about to begin. A position that is over already ends it at once.
    ///
    /// `patience` is how long a side must be away before the other may claim the game.
    pub fn new(start: Position, control: TimeControl, patience: Duration) -> Self {
        let history = History::new(start);
        let ending = history.outcome().map(Ending::from);
        Self {
            history,
            clocks: Clocks::new(control),
            ending,
            draw_offer: None,
            last_draw_offer: [None; 2],
            takeback_proposal: None,
            away_since: [None; 2],
            patience,
            may_abort: true,
        }
    }

    /// The same game, but one that nobody can call off, as in a tournament: it can be resigned from
    /// its first move on.
    #[must_use]
    pub fn without_abort(self) -> Self {
        Self { may_abort: false, ..self }
    }

    /// The moves and the position.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        self.history.position()
    }

    /// Number of moves played.
    pub fn plies(&self) -> usize {
        self.history.moves().len()
    }

    /// Whose turn it is.
    pub fn turn(&self) -> Color {
        self.position().turn()
    }

    /// Both clocks.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// How the game ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Whether the game can still be called off.
    pub fn is_abortable(&self) -> bool {
        self.ending.is_none() && self.may_abort && self.plies() < OPENING_PLIES
    }

    /// Who is offering a draw.
    pub fn draw_offer(&self) -> Option<Color> {
        self.draw_offer
    }

    /// Who is proposing to take a move back.
    pub fn takeback_proposal(&self) -> Option<Color> {
        self.takeback_proposal
    }

    /// When [`Game::tick`] must be called for a flag to fall in time.
    pub fn flag_at(&self) -> Option<Instant> {
        self.clocks.flag().map(|(_, at)| at)
    }

    /// Lets a flag fall whose time has come. Returns whether the game ended by that.
    ///
    /// Every command does this first, so that a late one cannot win a lost game.
    pub fn tick(&mut self, now: Instant) -> bool {
        match self.clocks.flag() {
            Some((loser, at)) if now >= at && self.ending.is_none() => {
                let winner = !loser;
                let is_draw = self.has_bare_king(winner) || self.draw_offer == Some(winner);
                self.end((!is_draw).then_some(winner), Termination::TimeForfeit, now);
                true
            }
            _ => false,
        }
    }

    /// Plays a move, which declines whatever the opponent has offered or proposed.
    ///
    /// # Errors
    /// The game is over, it is not this side's turn, or the move is illegal.
    pub fn play(&mut self, color: Color, mv: Move, now: Instant) -> Result<(), Refusal> {
        self.require_running(now)?;
        if self.turn() != color {
            return Err(Refusal::NotYourTurn);
        }
        self.history.play(mv).map_err(|_| Refusal::IllegalMove(mv))?;
        if self.draw_offer == Some(!color) {
            self.draw_offer = None;
        }
        self.takeback_proposal = None;
        self.away_since[color.index()] = None;
        if let Some(outcome) = self.history.outcome() {
            let Ending { winner, by } = outcome.into();
            self.end(winner, by, now);
        } else if self.plies() > MAX_PLIES {
            self.end(None, Termination::TooLong, now);
        } else {
            self.clocks.press(color, now);
            self.run_clock(now);
        }
        Ok(())
    }

    /// Calls the game off.
    ///
    /// # Errors
    /// The game is over, or both sides have moved.
    pub fn abort(&mut self, now: Instant) -> Result<(), Refusal> {
        self.require_running(now)?;
        if !self.is_abortable() {
            return Err(Refusal::NotAbortable);
        }
        self.end(None, Termination::Aborted, now);
        Ok(())
    }

    /// Gives the game up; an abortable game is aborted instead.
    ///
    /// # Errors
    /// The game is over.
    pub fn resign(&mut self, color: Color, now: Instant) -> Result<(), Refusal> {
        self.require_running(now)?;
        if self.is_abortable() {
            return self.abort(now);
        }
        self.end(Some(!color), Termination::Resignation, now);
        Ok(())
    }

    /// Offers a draw, or accepts one. Returns whether anything changed.
    ///
    /// Ends the game at once if the position is there for the third time or the opponent has a
    /// bare king. Nothing happens before ply 2 or too soon after this side's last offer.
    pub fn offer_draw(&mut self, color: Color, now: Instant) -> bool {
        if self.require_running(now).is_err() || self.plies() < OPENING_PLIES {
            return false;
        }
        if self.draw_offer == Some(!color) {
            self.end(None, Termination::Agreement, now);
        } else if self.history.occurrences() >= 3 {
            self.end(None, Termination::Rule(DrawReason::Threefold), now);
        } else if self.has_bare_king(!color) {
            self.end(None, Termination::BareKingClaim, now);
        } else if self.draw_offer.is_some() || !self.may_offer_draw(color) {
            return false;
        } else {
            self.draw_offer = Some(color);
            self.last_draw_offer[color.index()] = Some(self.plies());
        }
        true
    }

    /// Declines the opponent's draw offer. Returns whether there was one.
    pub fn decline_draw(&mut self, color: Color) -> bool {
        let declined = self.draw_offer == Some(!color);
        if declined {
            self.draw_offer = None;
        }
        declined
    }

    /// Proposes to take back this side's last move, or accepts the opponent's proposal.
    /// Returns whether anything changed.
    pub fn propose_takeback(&mut self, color: Color, now: Instant) -> bool {
        if self.require_running(now).is_err() || self.takeback_proposal == Some(color) {
            return false;
        }
        if self.takeback_proposal == Some(!color) {
            self.take_back(!color, now);
            return true;
        }
        let possible = self.plies() >= self.takeback_plies(color);
        if possible {
            self.takeback_proposal = Some(color);
        }
        possible
    }

    /// Declines the opponent's proposal. Returns whether there was one.
    pub fn decline_takeback(&mut self, color: Color) -> bool {
        let declined = self.takeback_proposal == Some(!color);
        if declined {
            self.takeback_proposal = None;
        }
        declined
    }

    /// Notes that a side is away from this moment on, which may lie ahead.
    pub fn leave(&mut self, color: Color, at: Instant) {
        self.away_since[color.index()].get_or_insert(at);
    }

    /// Notes that a side is there.
    pub fn come_back(&mut self, color: Color) {
        self.away_since[color.index()] = None;
    }

    /// Since when a side is away, or will be.
    pub fn away_since(&self, color: Color) -> Option<Instant> {
        self.away_since[color.index()]
    }

    /// How long the opponent of an absent side must still wait before it may claim the game.
    /// `None` when this side is there, or when absence does not matter: without a real-time
    /// clock, or before both sides have moved.
    pub fn claimable_in(&self, absent: Color, now: Instant) -> Option<Duration> {
        let since = self.away_since[absent.index()].filter(|&since| since <= now)?;
        let matters = self.ending.is_none()
            && self.clocks.control().is_real_time()
            && self.plies() >= OPENING_PLIES;
        matters.then(|| self.patience.saturating_sub(now.saturating_duration_since(since)))
    }

    /// Claims the win because the opponent left. `Ok(false)`: absence does not matter in this
    /// game, or it is the claimer's own turn, and nothing happened.
    ///
    /// # Errors
    /// The game is over, the opponent is not away for long enough, or the claimer has a bare king
    /// and got a draw.
    pub fn claim_victory(&mut self, color: Color, now: Instant) -> Result<bool, Refusal> {
        self.require_running(now)?;
        let applies = self.clocks.control().is_real_time()
            && self.plies() >= OPENING_PLIES
            && self.turn() != color;
        if !applies {
            return Ok(false);
        }
        if self.claimable_in(!color, now) != Some(Duration::ZERO) {
            return Err(Refusal::NotClaimable);
        }
        if self.has_bare_king(color) {
            self.end(None, Termination::Abandonment, now);
            return Err(Refusal::NotClaimable);
        }
        self.end(Some(color), Termination::Abandonment, now);
        Ok(true)
    }

    /// Claims a draw because the opponent left. `Ok(false)`: before both sides have moved.
    ///
    /// # Errors
    /// The game is over, it is the claimer's own turn, or the opponent is not away for long enough.
    pub fn claim_draw(&mut self, color: Color, now: Instant) -> Result<bool, Refusal> {
        self.require_running(now)?;
        if self.plies() < OPENING_PLIES {
            return Ok(false);
        }
        if self.turn() == color || self.claimable_in(!color, now) != Some(Duration::ZERO) {
            return Err(Refusal::NotClaimable);
        }
        self.end(None, Termination::Abandonment, now);
        Ok(true)
    }

    /// Takes half of a side's time and its increment, for a point in a tournament.
    ///
    /// # Errors
    /// The game is over, or the side has moved or berserked.
    pub fn berserk(&mut self, color: Color, now: Instant) -> Result<(), Refusal> {
        self.require_running(now)?;
        if self.plies() > color.index() || self.clocks.is_berserk(color) {
            return Err(Refusal::TooLateToBerserk);
        }
        self.clocks.berserk(color);
        Ok(())
    }

    /// Ends the game because the side to move has let the time for its first move pass. Returns
    /// whether that was still possible.
    pub fn end_without_start(&mut self, now: Instant) -> bool {
        let is_due = self.ending.is_none() && self.plies() < OPENING_PLIES;
        if is_due {
            self.end(Some(!self.turn()), Termination::NoStart, now);
        }
        is_due
    }

    /// Gives a side more time, as an opponent or a restarted server does.
    pub fn add_time(&mut self, color: Color, time: Duration) {
        self.clocks.add(color, time);
    }

    fn require_running(&mut self, now: Instant) -> Result<(), Refusal> {
        self.tick(now);
        if self.ending.is_some() { Err(Refusal::GameOver) } else { Ok(()) }
    }

    fn end(&mut self, winner: Option<Color>, by: Termination, now: Instant) {
        self.clocks.stop(now);
        self.draw_offer = None;
        self.takeback_proposal = None;
        self.ending = Some(Ending { winner, by });
    }

    /// The first move of each side is free: the clock runs from the second ply on.
    fn run_clock(&mut self, now: Instant) {
        if self.plies() >= OPENING_PLIES {
            self.clocks.start(self.turn(), now);
        }
    }

    fn has_bare_king(&self, color: Color) -> bool {
        self.position().side(color).len() == 1
    }

    fn may_offer_draw(&self, color: Color) -> bool {
        self.last_draw_offer[color.index()]
            .is_none_or(|ply| self.plies() > ply + PLIES_BETWEEN_DRAW_OFFERS)
    }

    /// The proposer's own last move must go: one ply if it was the last, else two.
    fn takeback_plies(&self, proposer: Color) -> usize {
        if self.turn() == proposer { 2 } else { 1 }
    }

    fn take_back(&mut self, proposer: Color, now: Instant) {
        let left = self.plies().saturating_sub(self.takeback_plies(proposer));
        let mut history = History::new(self.history.start().clone());
        for &mv in &self.history.moves()[..left] {
            history.play(mv).expect("the moves of a game are legal in it");
        }
        self.history = history;
        self.takeback_proposal = None;
        self.draw_offer = None;
        self.clocks.stop(now);
        self.run_clock(now);
    }
}

impl Ending {
    /// `1-0`, `0-1`, `1/2-1/2`, or `*` for an aborted game.
    pub const fn score(self) -> &'static str {
        match (self.winner, self.by) {
            (Some(Color::White), _) => "1-0",
            (Some(Color::Black), _) => "0-1",
            (None, Termination::Aborted) => "*",
            (None, _) => "1/2-1/2",
        }
    }
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Win { winner, by: WinReason::Explosion } => {
                Self { winner: Some(winner), by: Termination::Explosion }
            }
            Outcome::Win { winner, by: WinReason::Checkmate } => {
                Self { winner: Some(winner), by: Termination::Checkmate }
            }
            Outcome::Draw(reason) => Self { winner: None, by: Termination::Rule(reason) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    const PATIENCE: Duration = seconds(40);

    fn game(fen: &str, limit: u64, increment: u64) -> Game {
        let control =
            TimeControl::RealTime { limit: seconds(limit), increment: seconds(increment) };
        Game::new(Position::from_fen(fen).expect("a valid FEN"), control, PATIENCE)
    }

    fn standard(limit: u64, increment: u64) -> Game {
        game("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", limit, increment)
    }

    fn play(game: &mut Game, moves: &str, now: Instant) {
        for uci in moves.split_whitespace() {
            let mv = game.position().parse_uci(uci).expect("a legal move");
            game.play(game.turn(), mv, now).expect("accepted");
        }
    }

    fn ended(game: &Game) -> (Option<Color>, Termination) {
        let Ending { winner, by } = game.ending().expect("the game is over");
        (winner, by)
    }

    #[test]
    fn the_first_move_of_each_side_is_free() {
        let t0 = Instant::now();
        let mut game = standard(60, 1);
        play(&mut game, "g1f3", t0 + seconds(50));
        assert_eq!(game.flag_at(), None);
        play(&mut game, "f7f6", t0 + seconds(100));
        assert_eq!(game.flag_at(), Some(t0 + seconds(160)));
        play(&mut game, "e2e3", t0 + seconds(110));
        let now = t0 + seconds(115);
        assert_eq!(game.clocks().remaining(Color::White, now), Some(seconds(51)));
        assert_eq!(game.clocks().remaining(Color::Black, now), Some(seconds(55)));
    }

    #[test]
    fn a_flag_falls_and_a_late_move_does_not_count() {
        let t0 = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "g1f3 f7f6", t0);
        let mv = game.position().parse_uci("e2e3").unwrap();
        assert!(!game.tick(t0 + seconds(59)));
        assert_eq!(game.play(Color::White, mv, t0 + seconds(60)), Err(Refusal::GameOver));
        assert_eq!(ended(&game), (Some(Color::Black), Termination::TimeForfeit));
        assert_eq!(game.clocks().remaining(Color::White, t0), Some(Duration::ZERO));
    }

    #[test]
    fn a_flag_is_a_draw_against_a_bare_king() {
        let t0 = Instant::now();
        let mut game = game("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 60, 0);
        play(&mut game, "e2e4 e8e7", t0);
        assert!(game.tick(t0 + seconds(61)));
        assert_eq!(ended(&game), (None, Termination::TimeForfeit));
    }

    #[test]
    fn a_flag_is_a_draw_while_the_other_side_offers_one() {
        let t0 = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "g1f3 f7f6", t0);
        assert!(game.offer_draw(Color::Black, t0));
        assert!(game.tick(t0 + seconds(60)));
        assert_eq!(ended(&game), (None, Termination::TimeForfeit));
    }

    #[test]
    fn illegal_and_untimely_moves_change_nothing() {
        let t0 = Instant::now();
        let mut game = standard(60, 0);
        let mv = game.position().parse_uci("e2e4").unwrap();
        assert_eq!(game.play(Color::Black, mv, t0), Err(Refusal::NotYourTurn));
        assert_eq!(game.play(Color::White, Move::NULL, t0), Err(Refusal::IllegalMove(Move::NULL)));
        assert_eq!(game.plies(), 0);
    }

    #[test]
    fn the_rules_end_the_game() {
        let t0 = Instant::now();
        let mut mate = standard(60, 1);
        play(&mut mate, "f2f4 e7e6 g2g4 d8h4", t0);
        assert_eq!(ended(&mate), (Some(Color::Black), Termination::Checkmate));
        assert_eq!(mate.flag_at(), None);

        let mut explosion = standard(60, 1);
        play(&mut explosion, "g1f3 a7a6 f3e5 a6a5 e5f7", t0);
        assert_eq!(ended(&explosion), (Some(Color::White), Termination::Explosion));

        let mut threefold = standard(60, 1);
        play(&mut threefold, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", t0);
        let by = Termination::Rule(DrawReason::Threefold);
        assert_eq!(ended(&threefold), (None, by));
    }

    #[test]
    fn a_winning_move_earns_no_increment() {
        let t0 = Instant::now();
        let mut game = standard(60, 5);
        play(&mut game, "f2f4 e7e6 g2g4", t0);
        play(&mut game, "d8h4", t0 + seconds(2));
        assert_eq!(game.clocks().remaining(Color::Black, t0 + seconds(9)), Some(seconds(58)));
    }

    #[test]
    fn abort_is_for_the_first_two_plies_and_resigning_then_aborts() {
        let t0 = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "g1f3", t0);
        let mut aborted = game.clone();
        aborted.resign(Color::White, t0).unwrap();
        assert_eq!(ended(&aborted), (None, Termination::Aborted));
        assert_eq!(aborted.abort(t0), Err(Refusal::GameOver));

        play(&mut game, "f7f6", t0);
        assert_eq!(game.abort(t0), Err(Refusal::NotAbortable));
        game.resign(Color::White, t0).unwrap();
        assert_eq!(ended(&game), (Some(Color::Black), Termination::Resignation));
    }

    #[test]
    fn a_game_of_a_tournament_is_resigned_but_not_aborted() {
        let now = Instant::now();
        let mut game = standard(60, 0).without_abort();
        assert_eq!(game.abort(now), Err(Refusal::NotAbortable));
        assert!(!game.offer_draw(Color::White, now), "too early");
        game.resign(Color::Black, now).unwrap();
        assert_eq!(ended(&game), (Some(Color::White), Termination::Resignation));
    }

    #[test]
    fn a_first_move_that_does_not_come_loses() {
        let now = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "e2e4", now);
        assert!(game.end_without_start(now));
        assert_eq!(ended(&game), (Some(Color::White), Termination::NoStart));
        let mut game = standard(60, 0);
        play(&mut game, "e2e4 e7e5", now);
        assert!(!game.end_without_start(now));
    }

    #[test]
    fn a_side_berserks_once_before_its_first_move() {
        let now = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "e2e4", now);
        assert_eq!(game.berserk(Color::White, now), Err(Refusal::TooLateToBerserk));
        game.berserk(Color::Black, now).unwrap();
        assert_eq!(game.berserk(Color::Black, now), Err(Refusal::TooLateToBerserk));
        assert_eq!(game.clocks().remaining(Color::Black, now), Some(seconds(30)));
    }

    #[test]
    fn scores_are_those_of_pgn() {
        let score = |winner, by| Ending { winner, by }.score();
        assert_eq!(score(Some(Color::White), Termination::Resignation), "1-0");
        assert_eq!(score(Some(Color::Black), Termination::TimeForfeit), "0-1");
        assert_eq!(score(None, Termination::TimeForfeit), "1/2-1/2");
        assert_eq!(score(None, Termination::Aborted), "*");
    }

    #[test]
    fn a_draw_is_agreed_by_two_offers() {
        let t0 = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "g1f3", t0);
        assert!(!game.offer_draw(Color::White, t0));
        play(&mut game, "f7f6", t0);
        assert!(game.offer_draw(Color::White, t0));
        assert!(game.offer_draw(Color::Black, t0));
        assert_eq!(ended(&game), (None, Termination::Agreement));
    }

    #[test]
    fn a_move_declines_the_offer_and_the_next_one_waits_twenty_plies() {
        let t0 = Instant::now();
        let mut game = standard(600, 0);
        play(&mut game, "g1f3 f7f6", t0);
        assert!(game.offer_draw(Color::Black, t0));
        play(&mut game, "e2e3", t0);
        assert_eq!(game.draw_offer(), None);
        let shuffle = "a7a6 a2a3 a6a5 a3a4 b7b6 b2b3 b6b5 b3b4 h7h6 h2h3 h6h5 h3h4 g7g6 g2g3";
        play(&mut game, shuffle, t0);
        play(&mut game, "e7e6 d2d3 d7d6 c2c3", t0);
        assert_eq!(game.plies(), 21);
        assert!(!game.offer_draw(Color::Black, t0));
        play(&mut game, "c7c6 f1e2", t0);
        assert!(game.offer_draw(Color::Black, t0));
    }

    #[test]
    fn offering_a_draw_to_a_bare_king_ends_the_game() {
        let t0 = Instant::now();
        let mut game = game("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 60, 0);
        play(&mut game, "e2e4 e8e7", t0);
        assert!(game.offer_draw(Color::White, t0));
        assert_eq!(ended(&game), (None, Termination::BareKingClaim));
    }

    #[test]
    fn a_takeback_removes_the_proposers_last_move() {
        let t0 = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "e2e4 f7f6 g1f3", t0);
        assert!(game.propose_takeback(Color::White, t0));
        assert!(!game.propose_takeback(Color::White, t0));
        assert!(game.propose_takeback(Color::Black, t0 + seconds(4)));
        assert_eq!((game.plies(), game.turn()), (2, Color::White));
        let left = game.clocks().remaining(Color::Black, t0 + seconds(9));
        assert_eq!(left, Some(seconds(56)), "Black thought for four seconds");

        assert!(game.propose_takeback(Color::White, t0 + seconds(9)));
        assert!(game.decline_takeback(Color::Black));
        assert!(!game.decline_takeback(Color::Black));
        assert!(game.propose_takeback(Color::White, t0 + seconds(9)));
        assert!(game.propose_takeback(Color::Black, t0 + seconds(9)));
        assert_eq!((game.plies(), game.flag_at()), (0, None));
    }

    #[test]
    fn the_game_can_be_claimed_when_the_opponent_is_gone_for_long_enough() {
        let t0 = Instant::now();
        let mut game = standard(600, 0);
        game.leave(Color::Black, t0);
        assert_eq!(game.claim_victory(Color::White, t0), Ok(false));
        play(&mut game, "g1f3 f7f6", t0);
        assert_eq!(game.claimable_in(Color::Black, t0), None, "a move shows presence");
        game.leave(Color::Black, t0);
        assert_eq!(game.claim_victory(Color::White, t0), Ok(false), "own turn");
        play(&mut game, "e2e3", t0);
        let early = t0 + seconds(39);
        assert_eq!(game.claimable_in(Color::Black, early), Some(seconds(1)));
        assert_eq!(game.claim_victory(Color::White, early), Err(Refusal::NotClaimable));

        let mut drawn = game.clone();
        assert_eq!(drawn.claim_draw(Color::White, t0 + PATIENCE), Ok(true));
        assert_eq!(ended(&drawn), (None, Termination::Abandonment));
        assert_eq!(game.claim_victory(Color::White, t0 + PATIENCE), Ok(true));
        assert_eq!(ended(&game), (Some(Color::White), Termination::Abandonment));
    }

    #[test]
    fn a_returned_opponent_is_not_gone() {
        let t0 = Instant::now();
        let mut game = standard(600, 0);
        play(&mut game, "g1f3 f7f6 e2e3", t0);
        game.leave(Color::Black, t0);
        game.come_back(Color::Black);
        let late = t0 + PATIENCE;
        assert_eq!(game.claim_victory(Color::White, late), Err(Refusal::NotClaimable));
        assert_eq!(game.claim_draw(Color::White, late), Err(Refusal::NotClaimable));
    }

    #[test]
    fn given_time_counts() {
        let t0 = Instant::now();
        let mut game = standard(60, 0);
        play(&mut game, "g1f3 f7f6", t0);
        game.add_time(Color::White, seconds(15));
        assert_eq!(game.flag_at(), Some(t0 + seconds(75)));
    }
}
