//! One game on the server: the arbiter's game, its players, streams and chat, and its shapes on
//! the wire.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    arbiter::{Ending, Game, Termination, TimeControl},
    arena::{
        chat::Room,
        line::{Line, LineKind},
        recorder::AnswerTimes,
        stream::LineQueue,
        time_control::{days, speed},
        tournament::TournamentGame,
    },
    rules::{Color, DrawReason, Position},
};

/// What the wire says of a clock that does not exist.
const UNLIMITED_MS: u64 = 2_147_483_647;

/// A game at one moment, for whoever watches.
#[derive(Clone, Debug)]
pub struct GameSnapshot {
    /// The game's id.
    pub id: String,
    /// White's name.
    pub white: String,
    /// Black's name.
    pub black: String,
    /// The ratings of White and Black before the game.
    pub ratings: [i32; 2],
    /// Whether the game is rated.
    pub rated: bool,
    /// The time control.
    pub control: TimeControl,
    /// The position; after an explosion a king may be missing.
    pub fen: String,
    /// The moves in UCI notation, castling king to rook.
    pub moves: Vec<String>,
    /// Whose turn it is.
    pub turn: Color,
    /// What White and Black have left; `None` without a clock.
    pub clocks: [Option<Duration>; 2],
    /// The API's name of the status, such as `started` or `variantEnd`.
    pub status: &'static str,
    /// How the game ended, if it has.
    pub ending: Option<Ending>,
}

/// A player in a game.
#[derive(Clone, Debug)]
pub(super) struct Player {
    /// Id of the account.
    pub(super) user: String,
    pub(super) name: String,
    pub(super) title: Option<String>,
    /// Before the game.
    pub(super) rating: i32,
    pub(super) provisional: bool,
    pub(super) rating_diff: Option<i32>,
    /// The four characters that make the game's id this player's secret.
    pub(super) secret: String,
}

pub(super) struct ChatLine {
    pub(super) room: Room,
    pub(super) user: String,
    pub(super) text: String,
}

pub(super) struct GameStream {
    pub(super) user: String,
    pub(super) user_agent: String,
    pub(super) queue: Arc<LineQueue>,
}

/// A game on the server, running or over.
pub(super) struct ServerGame {
    pub(super) id: String,
    pub(super) arbiter: Game,
    /// White and Black.
    pub(super) players: [Player; 2],
    pub(super) rated: bool,
    pub(super) tournament: Option<TournamentGame>,
    /// Since when the side to move could move.
    pub(super) idle_since: Instant,
    pub(super) created_at_ms: u64,
    pub(super) last_move_at_ms: u64,
    pub(super) chat: Vec<ChatLine>,
    pub(super) streams: Vec<GameStream>,
    /// What the mover had left after each ply, in centiseconds.
    pub(super) clock_history_cs: Vec<u64>,
    /// When the opponents of absent players were last told.
    pub(super) gone_notices: [Option<Instant>; 2],
    /// House players who have left on demand, and so do not move.
    pub(super) house_away: [bool; 2],
    /// How fast the players' moves came.
    pub(super) answer_times: AnswerTimes,
    /// Whether the end has been announced.
    pub(super) is_closed: bool,
    /// Signalled on every change, awaited by the game's task.
    pub(super) changed: Arc<Notify>,
}

impl ServerGame {
    pub(super) fn player(&self, color: Color) -> &Player {
        &self.players[color.index()]
    }

    pub(super) fn color_of(&self, user: &str) -> Option<Color> {
        Color::ALL.into_iter().find(|&color| self.player(color).user == user)
    }

    /// The moves as the wire has them: UCI, castling king to rook.
    pub(super) fn moves(&self) -> Vec<String> {
        self.arbiter.history().moves().iter().map(ToString::to_string).collect()
    }

    /// Sends a line to the streams of both players.
    pub(super) fn send(&self, line: &Line) {
        for stream in &self.streams {
            stream.queue.push(line.clone());
        }
    }

    /// Sends a line to the streams of one player.
    pub(super) fn send_to(&self, color: Color, line: &Line) {
        let user = &self.player(color).user;
        for stream in self.streams.iter().filter(|stream| stream.user == *user) {
            stream.queue.push(line.clone());
        }
    }

    pub(super) fn has_stream(&self, user: &str) -> bool {
        self.streams.iter().any(|stream| stream.user == user)
    }

    /// Writes a chat line and sends it to the streams. The players of a tournament have no chat.
    pub(super) fn say(&mut self, room: Room, user: &str, text: &str) {
        if self.tournament.is_some() && room == Room::Player {
            return;
        }
        let line =
            json!({ "type": "chatLine", "room": room.name(), "username": user, "text": text });
        self.send(&Line::new(&line));
        self.chat.push(ChatLine { room, user: user.to_owned(), text: text.to_owned() });
    }

    /// Tells the opponents of players who are away, once in each period.
    /// Returns when to look again.
    pub(super) fn notify_absence(&mut self, now: Instant, period: Duration) -> Option<Instant> {
        let mut wake = None;
        for absent in Color::ALL {
            let Some(since) = self.arbiter.away_since(absent) else { continue };
            if since > now {
                wake = earlier(wake, Some(since));
                continue;
            }
            let Some(left) = self.arbiter.claimable_in(absent, now) else { continue };
            let notice = &mut self.gone_notices[absent.index()];
            if notice.is_none_or(|at| now.saturating_duration_since(at) >= period) {
                *notice = Some(now);
                // Rounded up, so that 0 means claimable now.
                let seconds = left.as_millis().div_ceil(1000);
                let line = json!({
                    "type": "opponentGone", "gone": true, "claimWinInSeconds": seconds,
                });
                self.send_to(!absent, &Line::new(&line));
            }
            let next = self.gone_notices[absent.index()].map(|at| at + period);
            wake = earlier(wake, next);
            if !left.is_zero() {
                wake = earlier(wake, Some(now + left));
            }
        }
        wake
    }

    /// Notes that a player is there, and tells the opponent if it was told otherwise.
    pub(super) fn come_back(&mut self, color: Color) {
        self.arbiter.come_back(color);
        if self.gone_notices[color.index()].take().is_some() {
            let line = json!({ "type": "opponentGone", "gone": false });
            self.send_to(!color, &Line::new(&line));
        }
        self.changed.notify_one();
    }

    /// Keeps the clock after each ply, for the export.
    pub(super) fn record_clock(&mut self, now: Instant) {
        let plies = self.arbiter.plies();
        if plies > self.clock_history_cs.len() {
            let left = self.remaining_ms(!self.arbiter.turn(), now);
            self.clock_history_cs.push(left / 10);
        }
        self.clock_history_cs.truncate(plies);
    }

    /// Milliseconds left on a clock, in steps of ten.
    pub(super) fn remaining_ms(&self, color: Color, now: Instant) -> u64 {
        match self.arbiter.clocks().remaining(color, now) {
            Some(left) => u64::try_from(left.as_millis()).unwrap_or(UNLIMITED_MS) / 10 * 10,
            None => UNLIMITED_MS,
        }
    }

    pub(super) fn snapshot(&self, now: Instant) -> GameSnapshot {
        let clocks = self.arbiter.clocks();
        GameSnapshot {
            id: self.id.clone(),
            white: self.player(Color::White).name.clone(),
            black: self.player(Color::Black).name.clone(),
            ratings: Color::ALL.map(|color| self.player(color).rating),
            rated: self.rated,
            control: clocks.control(),
            fen: self.arbiter.position().fen(),
            moves: self.moves(),
            turn: self.arbiter.turn(),
            clocks: Color::ALL.map(|color| clocks.remaining(color, now)),
            status: self.status().1,
            ending: self.arbiter.ending(),
        }
    }

    /// Id and name of the status.
    pub(super) fn status(&self) -> (u32, &'static str) {
        status(self.arbiter.ending())
    }

    pub(super) fn winner(&self) -> Option<Color> {
        self.arbiter.ending().and_then(|ending| ending.winner)
    }

    /// When the first move of the side to move must have come, if there is such a time.
    pub(super) fn first_move_due(&self) -> Option<Instant> {
        let of = self.tournament.as_ref()?;
        let is_opening = self.arbiter.ending().is_none() && self.arbiter.plies() < 2;
        is_opening.then(|| self.idle_since + of.first_move)
    }

    /// The `source` of the game.
    pub(super) fn source(&self) -> &'static str {
        if self.tournament.is_some() { "arena" } else { "friend" }
    }

    /// The `gameState` object.
    fn state_json(&self, now: Instant) -> Value {
        let increment = |color| self.arbiter.clocks().increment(color).as_millis();
        let mut state = json!({
            "type": "gameState",
            "moves": self.moves().join(" "),
            "wtime": self.remaining_ms(Color::White, now),
            "btime": self.remaining_ms(Color::Black, now),
            "winc": increment(Color::White),
            "binc": increment(Color::Black),
            "status": self.status().1,
        });
        if let Some(winner) = self.winner() {
            state["winner"] = json!(winner.to_string());
        }
        if let Some(color) = self.arbiter.draw_offer() {
            state[format!("{}draw", initial(color))] = json!(true);
        }
        if let Some(color) = self.arbiter.takeback_proposal() {
            state[format!("{}takeback", initial(color))] = json!(true);
        }
        if let (Some(of), Some(_)) = (&self.tournament, self.first_move_due()) {
            state["expiration"] = json!({
                "idleMillis": now.saturating_duration_since(self.idle_since).as_millis(),
                "millisToMove": of.first_move.as_millis(),
            });
        }
        state
    }

    /// The `gameState` line.
    pub(super) fn state_line(&self, now: Instant) -> Line {
        let (plies, is_running) = (self.arbiter.plies(), self.arbiter.ending().is_none());
        Line::of_kind(&self.state_json(now), LineKind::State { plies, is_running })
    }

    /// The same as if a game drawn by repetition had not ended yet.
    pub(super) fn started_state_line(&self, now: Instant) -> Line {
        let mut state = self.state_json(now);
        state["status"] = json!(status(None).1);
        let kind = LineKind::State { plies: self.arbiter.plies(), is_running: false };
        Line::of_kind(&state, kind)
    }

    /// The `gameFull` line.
    pub(super) fn full_line(&self, now: Instant) -> Line {
        Line::of_kind(&self.full_json(now), LineKind::Full { plies: self.arbiter.plies() })
    }

    /// The `gameFull` object.
    fn full_json(&self, now: Instant) -> Value {
        let control = self.arbiter.clocks().control();
        let mut full = json!({
            "type": "gameFull",
            "id": self.id,
            "variant": { "key": "atomic", "name": "Atomic", "short": "Atom" },
            "speed": speed(control),
            "perf": { "name": "Atomic" },
            "rated": self.rated,
            "createdAt": self.created_at_ms,
            "white": self.player(Color::White).full_json(),
            "black": self.player(Color::Black).full_json(),
            "initialFen": initial_fen(self.arbiter.history().start()),
            "state": self.state_json(now),
        });
        match control {
            TimeControl::RealTime { limit, increment } => {
                full["clock"] =
                    json!({ "initial": limit.as_millis(), "increment": increment.as_millis() });
            }
            TimeControl::Correspondence { per_move } => full["daysPerTurn"] = json!(days(per_move)),
            TimeControl::Unlimited => {}
        }
        if let Some(of) = &self.tournament {
            full["tournamentId"] = json!(of.id);
        }
        full
    }
}

impl Player {
    /// The player object of `gameFull`.
    fn full_json(&self) -> Value {
        let mut player = json!({
            "id": self.user, "name": self.name, "title": self.title, "rating": self.rating,
        });
        if self.provisional {
            player["provisional"] = json!(true);
        }
        player
    }

    /// The opponent object of the event stream, whose `username` carries the title.
    fn opponent_json(&self) -> Value {
        let username = match &self.title {
            Some(title) => format!("{title} {}", self.name),
            None => self.name.clone(),
        };
        let mut opponent = json!({ "id": self.user, "username": username, "rating": self.rating });
        if let Some(diff) = self.rating_diff {
            opponent["ratingDiff"] = json!(diff);
        }
        opponent
    }
}

/// The `game` object of the event stream, for the player of this color.
pub(super) fn event_game(game: &ServerGame, color: Color, now: Instant) -> Value {
    let (status_id, status_name) = game.status();
    let mut value = playing_json(game, color, now);
    value["id"] = json!(game.id);
    value["status"] = json!({ "id": status_id, "name": status_name });
    value["rating"] = json!(game.player(color).rating);
    value["compat"] = json!({ "bot": true, "board": true });
    if let Some(winner) = game.winner() {
        value["winner"] = json!(winner.to_string());
    }
    if let Some(diff) = game.player(color).rating_diff {
        value["ratingDiff"] = json!(diff);
    }
    value
}

/// A running game as `/api/account/playing` has it, for the player of this color.
pub(super) fn playing_json(game: &ServerGame, color: Color, now: Instant) -> Value {
    let plies = game.arbiter.plies();
    let mut value = json!({
        "gameId": game.id,
        "fullId": format!("{}{}", game.id, game.player(color).secret),
        "fen": game.arbiter.position().fen(),
        "color": color.to_string(),
        "lastMove": game.moves().last().map(|uci| uci.chars().take(4).collect::<String>())
            .unwrap_or_default(),
        "source": game.source(),
        "variant": { "key": "atomic", "name": "Atomic" },
        "speed": speed(game.arbiter.clocks().control()),
        "perf": "atomic",
        "rated": game.rated,
        "hasMoved": plies > color.index(),
        "opponent": game.player(!color).opponent_json(),
        "isMyTurn": game.arbiter.ending().is_none() && game.arbiter.turn() == color,
    });
    if game.arbiter.clocks().control() != TimeControl::Unlimited {
        value["secondsLeft"] = json!(game.remaining_ms(color, now) / 1000);
    }
    if let Some(of) = &game.tournament {
        value["tournamentId"] = json!(of.id);
    }
    value
}

/// The earlier of two moments, if there is any.
pub(super) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}

/// Where a game begins, as the first line of its stream tells.
fn initial_fen(start: &Position) -> String {
    if *start == Position::initial() { "startpos".to_owned() } else { start.fen() }
}

fn initial(color: Color) -> char {
    match color {
        Color::White => 'w',
        Color::Black => 'b',
    }
}

/// The API's id and name of a game's status.
fn status(ending: Option<Ending>) -> (u32, &'static str) {
    let Some(Ending { by, .. }) = ending else { return (20, "started") };
    match by {
        Termination::Aborted => (25, "aborted"),
        Termination::Checkmate => (30, "mate"),
        Termination::Resignation => (31, "resign"),
        Termination::Rule(DrawReason::Stalemate) => (32, "stalemate"),
        Termination::Abandonment => (33, "timeout"),
        Termination::Rule(_) | Termination::Agreement | Termination::TooLong => (34, "draw"),
        Termination::TimeForfeit => (35, "outoftime"),
        Termination::NoStart => (37, "noStart"),
        Termination::BareKingClaim => (39, "insufficientMaterialClaim"),
        Termination::Explosion => (60, "variantEnd"),
    }
}
