//! The course of the games: how they start, what the players do, and how the end is announced.

use std::{sync::Arc, time::Instant};

use serde_json::json;
use tokio::sync::Notify;

use crate::{
    arbiter::{Game, Termination, TimeControl},
    arena::{
        chat::Room,
        game::{GameStream, Player, ServerGame, event_game},
        recorder::AnswerTimes,
        state::{Refused, State, epoch_ms},
        stream::LineQueue,
        tournament::TournamentGame,
    },
    rules::{Color, DrawReason, Position},
};

/// What a player can do in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Move { uci: String, offering_draw: bool },
    Abort,
    Resign,
    OfferDraw,
    DeclineDraw,
    ProposeTakeback,
    DeclineTakeback,
    ClaimVictory,
    ClaimDraw,
}

/// A game that is to start.
pub(super) struct NewGame {
    pub(super) id: String,
    pub(super) control: TimeControl,
    pub(super) rated: bool,
    /// The ids of White and Black.
    pub(super) users: [String; 2],
    pub(super) start: Position,
    pub(super) tournament: Option<TournamentGame>,
}

/// What is wrong with a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    /// No UCI notation.
    Malformed,
    /// Against the rules.
    Illegal,
    /// Out of turn, or after the end.
    Untimely,
}

impl Mistake {
    fn refused(self, uci: &str) -> Refused {
        Refused::bad_request(match self {
            Self::Malformed => format!("Invalid UCI: {uci}"),
            Self::Illegal => format!("Piece on {} cannot move to {}", &uci[..2], &uci[2..4]),
            Self::Untimely => "Not your turn, or game already over".to_owned(),
        })
    }
}

impl State {
    /// Starts the game of an accepted challenge.
    pub(super) fn start_challenged_game(&mut self, challenge_id: &str, now: Instant) {
        let Some(challenge) = self.challenges.get(challenge_id) else { return };
        let users = match challenge.final_color {
            Color::White => [challenge.challenger.clone(), challenge.target.clone()],
            Color::Black => [challenge.target.clone(), challenge.challenger.clone()],
        };
        let game = NewGame {
            id: challenge.id.clone(),
            control: challenge.control,
            rated: challenge.rated,
            users,
            start: challenge.start.clone(),
            tournament: None,
        };
        self.count_bot_game(&game.users, now);
        self.start_game(game, now);
    }

    /// Starts a game and tells both players.
    pub(super) fn start_game(&mut self, new: NewGame, now: Instant) {
        let players = new.users.map(|user| self.new_player(&user));
        let mut arbiter = Game::new(new.start, new.control, self.options.patience());
        if new.tournament.is_some() {
            arbiter = arbiter.without_abort();
        }
        for color in Color::ALL {
            // Until its stream is open a client counts as away.
            if !self.is_house(&players[color.index()].user) {
                arbiter.leave(color, now + self.options.presence_grace());
            }
        }
        let game = ServerGame {
            id: new.id,
            arbiter,
            players,
            rated: new.rated,
            tournament: new.tournament,
            idle_since: now,
            created_at_ms: epoch_ms(),
            last_move_at_ms: epoch_ms(),
            chat: Vec::new(),
            streams: Vec::new(),
            clock_history_cs: Vec::new(),
            gone_notices: [None; 2],
            house_away: [false; 2],
            answer_times: AnswerTimes::default(),
            is_closed: false,
            changed: Arc::new(Notify::new()),
        };
        self.counters.games_started += 1;
        self.announce_game("gameStart", &game, now);
        self.watchers_see(&game, now);
        self.games_to_run.push(game.id.clone());
        self.games.insert(game.id.clone(), game);
    }

    fn new_player(&mut self, user: &str) -> Player {
        let secret = self.random_id(4);
        let account = self.accounts.get(user);
        Player {
            user: user.to_owned(),
            name: account.map_or_else(|| user.to_owned(), |account| account.name.clone()),
            title: account.and_then(|account| account.title.clone()),
            rating: account.map_or(1500, |account| account.rating),
            provisional: account.is_some_and(|account| account.provisional),
            rating_diff: None,
            secret,
        }
    }

    /// Tells everybody how a game stands after a change, and closes it when it is over.
    pub(super) fn publish(&mut self, id: &str, now: Instant) {
        let Some(game) = self.games.get_mut(id).filter(|game| !game.is_closed) else { return };
        game.record_clock(now);
        if is_threefold(game) {
            // The real server claims the draw after it has sent the move.
            game.send(&game.started_state_line(now));
        }
        game.send(&game.state_line(now));
        game.changed.notify_one();
        if game.arbiter.ending().is_some() {
            self.close_game(id, now);
        }
        if let Some(game) = self.games.get(id) {
            self.watchers_see(game, now);
        }
        if self.finished.len() > self.options.finished_games {
            self.forget_finished(self.options.finished_games);
        }
    }

    fn close_game(&mut self, id: &str, now: Instant) {
        self.rate(id);
        self.end_tournament_game(id, now);
        let Some(game) = self.games.get_mut(id) else { return };
        game.is_closed = true;
        for stream in game.streams.drain(..) {
            stream.queue.close();
        }
        let loser = game.arbiter.turn();
        let flagged = game.arbiter.ending().is_some_and(|ending| {
            ending.by == Termination::TimeForfeit && ending.winner == Some(!loser)
        });
        let loser = game.player(loser).user.clone();
        if flagged && !self.is_house(&loser) {
            self.counters.flags_lost += 1;
        }
        self.counters.games_finished += 1;
        self.finished.push_back(id.to_owned());
        if let Some(game) = self.games.get(id) {
            self.announce_game("gameFinish", game, now);
        }
    }

    /// Changes the ratings after a rated game: about eight points between equals.
    fn rate(&mut self, id: &str) {
        let Some(game) = self.games.get_mut(id) else { return };
        if game.arbiter.ending().is_none_or(|ending| ending.by == Termination::Aborted) {
            return;
        }
        let surplus = (game.player(Color::White).rating - game.player(Color::Black).rating) / 50;
        let white_diff = match game.winner() {
            Some(Color::White) => (8 - surplus).clamp(1, 16),
            Some(Color::Black) => -(8 + surplus).clamp(1, 16),
            None => (-surplus).clamp(-8, 8),
        };
        let is_rated = game.rated;
        let diffs = [white_diff, -white_diff];
        for (player, diff) in game.players.iter_mut().zip(diffs) {
            player.rating_diff = is_rated.then_some(diff);
            if let Some(account) = self.accounts.get_mut(&player.user) {
                account.rating += player.rating_diff.unwrap_or(0);
            }
        }
        self.keep_results(id);
    }

    /// Counts a finished game for both accounts.
    fn keep_results(&mut self, id: &str) {
        let Some(game) = self.games.get(id) else { return };
        let (winner, is_rated) = (game.winner(), game.rated);
        for color in Color::ALL {
            let Some(account) = self.accounts.get_mut(&game.player(color).user) else { continue };
            let record = &mut account.record;
            record.games += 1;
            record.rated += u32::from(is_rated);
            *match winner {
                None => &mut record.drawn,
                Some(winner) if winner == color => &mut record.won,
                Some(_) => &mut record.lost,
            } += 1;
        }
    }

    fn announce_game(&self, kind: &str, game: &ServerGame, now: Instant) {
        for color in Color::ALL {
            let event = json!({ "type": kind, "game": event_game(game, color, now) });
            self.send_event(&game.player(color).user, &event);
        }
    }

    fn watchers_see(&self, game: &ServerGame, now: Instant) {
        // Fails only when nobody watches.
        let _watchers = self.snapshots.send(game.snapshot(now));
    }

    /// The game of this id, or of a full id, if the user plays in it.
    pub(super) fn game_of(&self, user: &str, id: &str) -> Result<(&ServerGame, Color), Refused> {
        let game = self.game(id)?;
        let color = game.color_of(user).ok_or_else(|| Refused::not_found("Not your game"))?;
        Ok((game, color))
    }

    pub(super) fn game(&self, id: &str) -> Result<&ServerGame, Refused> {
        let id = id.get(..8).unwrap_or(id);
        self.games.get(id).ok_or_else(|| Refused::not_found("No such game"))
    }

    /// Opens a game's stream for a player, and closes the one before of the same program.
    pub(super) fn open_game_stream(
        &mut self,
        user: &str,
        id: &str,
        user_agent: &str,
        now: Instant,
    ) -> Result<Arc<LineQueue>, Refused> {
        self.counters.game_streams += 1;
        let (game, color) = self.game_of(user, id)?;
        let queue = LineQueue::new(vec![game.full_line(now)], self.options.stream_buffer);
        let id = game.id.clone();
        let Some(game) = self.games.get_mut(&id) else { return Ok(queue) };
        if game.is_closed {
            queue.close();
            return Ok(queue);
        }
        game.streams.retain(|stream| {
            let is_replaced = stream.user == user && stream.user_agent == user_agent;
            if is_replaced {
                stream.queue.close();
            }
            !is_replaced
        });
        game.streams.push(GameStream {
            user: user.to_owned(),
            user_agent: user_agent.to_owned(),
            queue: Arc::clone(&queue),
        });
        game.come_back(color);
        Ok(queue)
    }

    /// A stream ended, in whatever way; without another one the player is soon gone.
    pub(super) fn close_game_stream(
        &mut self,
        user: &str,
        id: &str,
        queue: &Arc<LineQueue>,
        now: Instant,
    ) {
        let gone_at = now + self.options.presence_grace();
        let id = id.get(..8).unwrap_or(id);
        let Some(game) = self.games.get_mut(id) else { return };
        game.streams.retain(|stream| !Arc::ptr_eq(&stream.queue, queue));
        if let Some(color) = game.color_of(user)
            && !game.has_stream(user)
        {
            game.arbiter.leave(color, gone_at);
            game.changed.notify_one();
        }
    }

    /// Carries out a client's command and counts what it did wrong.
    pub(super) fn command(
        &mut self,
        user: &str,
        id: &str,
        command: &Command,
        now: Instant,
    ) -> Result<(), Refused> {
        let (game, color) = self.game_of(user, id)?;
        let id = game.id.clone();
        if let Command::Move { uci, offering_draw } = command {
            return self.play_uci(&id, color, uci, *offering_draw, now).map_err(|mistake| {
                self.count(mistake);
                mistake.refused(uci)
            });
        }
        let result = self.carry_out(&id, color, command, now);
        match command {
            _ if result.is_err() => self.counters.refused_commands += 1,
            Command::Abort => self.counters.aborted += 1,
            Command::Resign => self.counters.resigned += 1,
            Command::ClaimVictory | Command::ClaimDraw => self.counters.claims += 1,
            _ => {}
        }
        result
    }

    /// Carries out a command of either side's player.
    pub(super) fn carry_out(
        &mut self,
        id: &str,
        color: Color,
        command: &Command,
        now: Instant,
    ) -> Result<(), Refused> {
        if let Command::Move { uci, offering_draw } = command {
            return self
                .play_uci(id, color, uci, *offering_draw, now)
                .map_err(|mistake| mistake.refused(uci));
        }
        let may_take_back = self.takebacks_are_allowed(id);
        let Some(game) = self.games.get_mut(id) else {
            return Err(Refused::not_found("No such game"));
        };
        let arbiter = &mut game.arbiter;
        let plies = arbiter.plies();
        let was_over = arbiter.ending().is_some();
        let refused = |text: &str| Refused::bad_request(text);
        let result = match command {
            // Handled above.
            Command::Move { .. } => return Ok(()),
            Command::Abort => arbiter
                .abort(now)
                .map(|()| true)
                .map_err(|_| refused("This game can no longer be aborted")),
            Command::Resign => arbiter
                .resign(color, now)
                .map(|()| true)
                .map_err(|_| refused("This game cannot be resigned")),
            Command::OfferDraw => Ok(arbiter.offer_draw(color, now)),
            Command::DeclineDraw => Ok(arbiter.decline_draw(color)),
            Command::ProposeTakeback if !may_take_back => Ok(false),
            Command::ProposeTakeback => Ok(arbiter.propose_takeback(color, now)),
            Command::DeclineTakeback => Ok(arbiter.decline_takeback(color)),
            Command::ClaimVictory => arbiter
                .claim_victory(color, now)
                .map_err(|_| refused("You cannot claim the win on this game")),
            Command::ClaimDraw => arbiter
                .claim_draw(color, now)
                .map_err(|_| refused("You cannot claim a draw on this game")),
        };
        self.counters.takebacks += u64::from(arbiter.plies() < plies);
        // A refused command may still have ended the game: its flag may have fallen before.
        let is_over_now = !was_over && arbiter.ending().is_some();
        if matches!(result, Ok(true)) || is_over_now {
            self.publish(id, now);
            self.announce_offer(id, color, command);
        }
        result.map(|_| ())
    }

    /// Whether both players allow takebacks in a game; never in a tournament.
    fn takebacks_are_allowed(&self, id: &str) -> bool {
        let Some(game) = self.games.get(id).filter(|game| game.tournament.is_none()) else {
            return false;
        };
        game.players.iter().all(|player| {
            let account = self.accounts.get(&player.user);
            account.is_some_and(|account| account.takebacks.allow(game.rated))
        })
    }

    /// What the server says in the chat about offers.
    fn announce_offer(&mut self, id: &str, color: Color, command: &Command) {
        let Some(game) = self.games.get_mut(id).filter(|game| !game.is_closed) else { return };
        let side = match color {
            Color::White => "White",
            Color::Black => "Black",
        };
        match command {
            Command::OfferDraw => game.say(Room::Player, "lichess", &format!("{side} offers draw")),
            Command::DeclineDraw => {
                game.say(Room::Player, "lichess", &format!("{side} declines draw"));
            }
            Command::ProposeTakeback if game.arbiter.takeback_proposal() == Some(color) => {
                game.say(Room::Player, "lichess", "Takeback sent");
            }
            Command::DeclineTakeback => game.say(Room::Player, "lichess", "Takeback declined"),
            _ => {}
        }
    }

    /// Plays a move. Whoever the player is, nothing is counted here.
    fn play_uci(
        &mut self,
        id: &str,
        color: Color,
        uci: &str,
        offering_draw: bool,
        now: Instant,
    ) -> Result<(), Mistake> {
        let gone_at = now + self.options.presence_grace();
        let game = self.games.get_mut(id).ok_or(Mistake::Untimely)?;
        if !is_uci(uci) {
            return Err(Mistake::Malformed);
        }
        if offering_draw && game.arbiter.draw_offer() == Some(!color) {
            // Accepts the draw; the move is never played.
            game.arbiter.offer_draw(color, now);
            self.publish(id, now);
            return Ok(());
        }
        if game.arbiter.tick(now) {
            self.publish(id, now);
            return Err(Mistake::Untimely);
        }
        if game.arbiter.ending().is_some() || game.arbiter.turn() != color {
            return Err(Mistake::Untimely);
        }
        let mv = game.arbiter.position().parse_uci(uci).map_err(|_| Mistake::Illegal)?;
        game.arbiter.play(color, mv, now).map_err(|_| Mistake::Illegal)?;
        game.last_move_at_ms = epoch_ms();
        game.idle_since = now;
        game.come_back(color);
        if offering_draw {
            game.arbiter.offer_draw(color, now);
        }
        let user = game.player(color).user.clone();
        let is_without_stream = !game.has_stream(&user);
        if is_without_stream && !self.is_house(&user) {
            self.mark_absent(id, color, gone_at);
        }
        self.publish(id, now);
        Ok(())
    }

    fn mark_absent(&mut self, id: &str, color: Color, at: Instant) {
        if let Some(game) = self.games.get_mut(id) {
            game.arbiter.leave(color, at);
        }
    }

    fn count(&mut self, mistake: Mistake) {
        match mistake {
            Mistake::Malformed => self.counters.malformed_moves += 1,
            Mistake::Illegal => self.counters.illegal_moves += 1,
            Mistake::Untimely => self.counters.untimely_moves += 1,
        }
    }
}

fn is_threefold(game: &ServerGame) -> bool {
    game.arbiter
        .ending()
        .is_some_and(|ending| ending.by == Termination::Rule(DrawReason::Threefold))
}

/// Whether a text has the form of a UCI move.
fn is_uci(text: &str) -> bool {
    let is_square = |file: u8, rank: u8| matches!((file, rank), (b'a'..=b'h', b'1'..=b'8'));
    match text.as_bytes() {
        [f1, r1, f2, r2] => is_square(*f1, *r1) && is_square(*f2, *r2),
        [f1, r1, f2, r2, promotion] => {
            is_square(*f1, *r1)
                && is_square(*f2, *r2)
                && matches!(promotion, b'q' | b'r' | b'b' | b'n' | b'k')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uci_has_a_form() {
        for good in ["e2e4", "e7e8q", "e1h1"] {
            assert!(is_uci(good), "{good}");
        }
        for bad in ["", "z9z9", "e2", "e2e4x", "e2e44", "éé"] {
            assert!(!is_uci(bad), "{bad}");
        }
    }
}
