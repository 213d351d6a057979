//! Games with offers, answers and ends at random moments: whatever comes, one search runs at a time,
//! moves are legal and sent once, and our turn never waits for nothing.

use super::*;
use crate::game::{ChatLine, Room, TakebackOptions};

const GAMES: u64 = 300;
const STEPS: usize = 150;

/// The server's and the engine's side of a random game.
struct World {
    random: fastrand::Rng,
    table: Table,
    moves: Vec<String>,
    /// Whether a search runs, and whether it ponders.
    search: Option<bool>,
    /// Our move, until the server shows it.
    sent: Option<Move>,
    /// What the opponent offers: a draw, a takeback.
    offers: [bool; 2],
    /// We agreed to a takeback, and the server has not shown it.
    is_taking_back: bool,
    is_over: bool,
    agreements: u32,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let when = Occasion { from_move: random.usize(1..5), ..Occasion::default() };
        let draw =
            DrawOptions { offer: true, offer_after_moves: 2, when, ..DrawOptions::default() };
        let resign = ResignOptions {
            enabled: random.bool(),
            at_most_cp: -250,
            after_moves: 2,
            ..ResignOptions::default()
        };
        let takeback = TakebackOptions { most: random.u32(0..3), in_rated_games: false };
        let humans = Manners { draw, resign, takeback, hope_for_flag: None };
        let color = if random.bool() { Color::White } else { Color::Black };
        let fake_think_time = random.bool();
        let table = Table::new(color, Options { fake_think_time, humans, ..Options::default() });
        Self {
            random,
            table,
            moves: Vec::new(),
            search: None,
            sent: None,
            offers: [false; 2],
            is_taking_back: false,
            is_over: false,
            agreements: 0,
        }
    }

    fn position(&self) -> Position {
        let mut history = History::default();
        for uci in &self.moves {
            history.play_uci(uci).unwrap();
        }
        history.position().clone()
    }

    fn is_our_turn(&self) -> bool {
        self.position().turn() == self.table.full.our_color
    }

    fn state(&self) -> GameState {
        let theirs = |offered: bool| {
            let mut sides = [false; 2];
            sides[(!self.table.full.our_color).index()] = offered;
            sides
        };
        let [draw, takeback] = self.offers.map(theirs);
        let moves = self.moves.join(" ");
        GameState { draw_offer: draw, takeback_offer: takeback, ..state(&moves) }
    }

    fn some_move(&mut self) -> Move {
        let moves = self.position().legal_moves();
        moves[self.random.usize(..moves.len())]
    }

    fn thought(&mut self) -> Thought {
        let evaluation = Evaluation { centipawns: self.random.i32(-300..300), mate_in: None };
        Thought { depth: self.random.u32(0..3), evaluation, ..Thought::default() }
    }

    /// Something that may happen now.
    fn next_input(&mut self) -> Input {
        let event = match self.random.u8(..10) {
            0..=2 if self.sent.is_some() => {
                let mv = self.sent.take().unwrap();
                self.moves.push(mv.to_string());
                // It declines what is open.
                self.offers = [false; 2];
                Event::State(self.state())
            }
            0..=2 if !self.is_our_turn() && !self.position().legal_moves().is_empty() => {
                let mv = self.some_move();
                self.moves.push(mv.to_string());
                // A proposal to take back what has just been played comes later.
                self.offers = [self.random.u8(..4) == 0, false];
                Event::State(self.state())
            }
            3 => {
                self.offers = [self.random.bool(), self.random.bool()];
                Event::State(self.state())
            }
            4 if self.is_taking_back && self.sent.is_none() => {
                let plies = if self.is_our_turn() { 1 } else { 2 };
                self.moves.truncate(self.moves.len().saturating_sub(plies));
                (self.is_taking_back, self.offers) = (false, [false; 2]);
                let full = GameFull { state: self.state(), ..self.table.full.clone() };
                Event::Full(Box::new(full))
            }
            5 if self.search.is_some() => return Input::Thought(self.thought()),
            6 | 7 if self.search == Some(false) => {
                self.search = None;
                let best = Some(self.some_move());
                let ponder = None;
                return Input::Found(Found { best, ponder, thought: self.thought() });
            }
            8 => {
                let gone = self.random.bool().then_some(ms(self.random.u64(..2000)));
                Event::OpponentGone(gone)
            }
            9 => {
                let text = "!takeback".to_owned();
                Event::Chat(ChatLine { room: Room::Player, from: "somebody".to_owned(), text })
            }
            _ => {
                self.table.now = self.table.session.deadline().unwrap_or(self.table.now);
                return Input::Tick;
            }
        };
        Input::Server(Arrived { at: self.table.now, lag: Lag::default(), event })
    }

    fn step(&mut self, input: Input) {
        self.table.now += ms(self.random.u64(..400));
        let actions = self.table.session.handle(input, self.table.now);
        assert!(!self.is_over || actions.is_empty(), "{actions:?} after the end");
        for action in actions {
            match action {
                Action::Search(request) => {
                    assert_eq!(self.search.replace(request.limits.ponder), None, "one at a time");
                }
                Action::PonderHit { .. } => {
                    assert_eq!(self.search.replace(false), Some(true), "it ponders");
                }
                Action::StopSearch => assert!(self.search.take().is_some(), "one runs"),
                Action::Send(Command::Play { ply, mv, .. }) => {
                    assert_eq!((ply, self.search, self.sent), (self.moves.len(), None, None));
                    assert!(self.position().is_legal(mv));
                    self.sent = Some(mv);
                }
                Action::Send(Command::AnswerTakeback(true)) => {
                    assert!(self.offers[1], "nothing is proposed");
                    (self.is_taking_back, self.agreements) = (true, self.agreements + 1);
                }
                Action::Send(Command::AcceptDraw | Command::DeclineDraw) => {
                    assert!(self.offers[0], "nothing is offered");
                    self.agreements += 1;
                }
                Action::Finish(_) | Action::Send(Command::Resign | Command::Abort) => {
                    self.is_over = true;
                }
                Action::Alert(trouble) => assert!(!trouble.is_fatal(), "{trouble}"),
                Action::Send(_) => {}
            }
        }
        let has_moves = !self.position().legal_moves().is_empty();
        if self.is_our_turn() && has_moves && !self.is_over && self.sent.is_none() {
            let waits = self.table.session.deadline().is_some();
            assert!(self.search == Some(false) || waits, "our turn, and nothing is done");
        }
        let is_late = |due: Instant| due <= self.table.now;
        assert!(!self.table.session.deadline().is_some_and(is_late), "a deadline that came");
    }
}

#[test]
fn random_offers_and_answers_never_stop_the_game() {
    let (mut moves, mut agreements) = (0, 0);
    for seed in 0..GAMES {
        let mut world = World::new(seed);
        let full = Event::Full(Box::new(world.table.full.clone()));
        let now = world.table.now;
        world.step(Input::Server(Arrived { at: now, lag: Lag::default(), event: full }));
        for _ in 0..STEPS {
            // Resigning and aborting wait for the server, which is another test's matter.
            if world.is_over {
                break;
            }
            let input = world.next_input();
            world.step(input);
        }
        moves += world.moves.len();
        agreements += world.agreements;
    }
    assert!(moves > 2_000 && agreements > 500, "{moves} moves, {agreements} answers: too few");
}
