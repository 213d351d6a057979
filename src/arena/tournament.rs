//! Arena tournaments: who joins, who is paired with whom, and the points.
//!
//! Not here: streaks, the points of teams, other variants, and tournaments of other systems.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::{
    arbiter::TimeControl,
    arena::{
        agenda::Task,
        play::NewGame,
        state::{Refused, State, epoch_ms},
        time_control::speed,
    },
    rules::{Color, Position},
};

/// How long a player who asked to be paired without a page open waits for it (PROTOCOLS 18.2).
const READY_FOR: Duration = Duration::from_mins(1);

/// A player who leaves again and again is kept out for so many times the first pause.
const LONGEST_PAUSE: u32 = 12;

/// An arena tournament to be held.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TournamentSpec {
    /// The id; drawn by lot when absent.
    pub id: Option<String>,
    /// The name.
    pub name: String,
    /// The id of the team that has it.
    pub team: Option<String>,
    /// The ids of the teams, if it is a battle of teams: whoever joins has to name one of them.
    pub battle: Vec<String>,
    /// Key of the variant. Nobody is paired in one that is not `atomic`.
    pub variant: String,
    /// Each side's time, in seconds.
    pub limit_s: u64,
    /// The increment, in seconds.
    pub increment_s: u64,
    /// How long after it was made it starts, in milliseconds.
    pub starts_in_ms: u64,
    /// How long players are paired, in milliseconds.
    pub lasts_ms: u64,
    /// How long it takes at least from the end of a game to the next pairing, in milliseconds.
    pub pairing_pause_ms: u64,
    /// In which time a first move must come, in milliseconds; 0 for the server's figure, which
    /// depends on the speed.
    pub first_move_ms: u64,
    /// How long who has left must stay away, in milliseconds; each more time as much longer, up to
    /// twelve times.
    pub rejoin_pause_ms: u64,
    /// Whether its games are rated.
    pub rated: bool,
    /// Whether bots may join. On the real server the default is that they may not.
    pub bots: bool,
    /// Whether players may give half of their time for a point.
    pub berserkable: bool,
    /// What players must know to join.
    pub password: Option<String>,
    /// The least rating to join with.
    pub min_rating: Option<i32>,
    /// The highest rating to join with.
    pub max_rating: Option<i32>,
    /// House players who join at once.
    pub players: Vec<String>,
}

impl Default for TournamentSpec {
    fn default() -> Self {
        Self {
            id: None,
            name: "Atomic Arena".to_owned(),
            team: None,
            battle: Vec::new(),
            variant: "atomic".to_owned(),
            limit_s: 60,
            increment_s: 0,
            starts_in_ms: 0,
            lasts_ms: 3_600_000,
            pairing_pause_ms: 1_000,
            first_move_ms: 0,
            rejoin_pause_ms: 10_000,
            rated: true,
            bots: true,
            berserkable: true,
            password: None,
            min_rating: None,
            max_rating: None,
            players: Vec::new(),
        }
    }
}

/// A tournament as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentSnapshot {
    /// The id.
    pub id: String,
    /// `created`, `started` or `finished`.
    pub status: &'static str,
    /// All who joined, the best first.
    pub players: Vec<TournamentPlayer>,
    /// The ids of its games, in the order in which they began.
    pub games: Vec<String>,
}

/// A player in a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentPlayer {
    /// Id of the account.
    pub user: String,
    /// Two points for a win, one for a draw; one more for a win with half of the time.
    pub score: u32,
    /// Number of finished games.
    pub games: u32,
    /// Whether the player has left, or paused.
    pub withdrawn: bool,
}

/// What somebody who joins says.
pub(super) struct Wish<'a> {
    pub(super) password: Option<&'a str>,
    /// For which team.
    pub(super) team: Option<&'a str>,
    /// To be paired without a page open.
    pub(super) is_ready: bool,
}

/// What makes a game one of a tournament.
#[derive(Clone, Debug)]
pub(super) struct TournamentGame {
    /// The tournament's id.
    pub(super) id: String,
    /// In which time each first move must come.
    pub(super) first_move: Duration,
}

/// A tournament as the server keeps it.
pub(super) struct Tournament {
    pub(super) id: String,
    pub(super) spec: TournamentSpec,
    pub(super) starts_at: Instant,
    pub(super) ends_at: Instant,
    pub(super) starts_at_ms: u64,
    /// By the ids of the accounts.
    entrants: BTreeMap<String, Entrant>,
    games: Vec<String>,
}

/// Somebody who has joined.
#[derive(Clone, Debug, Default)]
struct Entrant {
    is_withdrawn: bool,
    /// How often the player has left, and until when nobody lets the player come back.
    pauses: u32,
    paused_until: Option<Instant>,
    /// Until when the player can be paired without a page open.
    ready_until: Option<Instant>,
    /// The running game.
    plays: Option<String>,
    last_opponent: Option<String>,
    score: u32,
    games: u32,
    /// Games with White less those with Black.
    white_surplus: i32,
}

impl Tournament {
    pub(super) fn control(&self) -> TimeControl {
        TimeControl::RealTime {
            limit: Duration::from_secs(self.spec.limit_s),
            increment: Duration::from_secs(self.spec.increment_s),
        }
    }

    pub(super) fn status(&self, now: Instant) -> &'static str {
        match now {
            _ if now < self.starts_at => "created",
            _ if now < self.ends_at => "started",
            _ => "finished",
        }
    }

    /// In which time a first move must come.
    fn first_move_time(&self) -> Duration {
        match self.spec.first_move_ms {
            0 => Duration::from_secs(match speed(self.control()) {
                "ultraBullet" => 11,
                "bullet" => 16,
                "blitz" => 21,
                "rapid" => 25,
                _ => 30,
            }),
            ms => Duration::from_millis(ms),
        }
    }

    pub(super) fn snapshot(&self, now: Instant) -> TournamentSnapshot {
        let player = |(user, entrant): (&String, &Entrant)| TournamentPlayer {
            user: user.clone(),
            score: entrant.score,
            games: entrant.games,
            withdrawn: entrant.is_withdrawn,
        };
        let mut players: Vec<_> = self.entrants.iter().map(player).collect();
        players.sort_by_key(|player| std::cmp::Reverse(player.score));
        TournamentSnapshot {
            id: self.id.clone(),
            status: self.status(now),
            players,
            games: self.games.clone(),
        }
    }

    /// White and Black of the games that are to begin now.
    fn pair(&self, is_present: impl Fn(&str, &Entrant) -> bool) -> Vec<[String; 2]> {
        let is_free = |(user, entrant): &(&String, &Entrant)| {
            !entrant.is_withdrawn && entrant.plays.is_none() && is_present(user, entrant)
        };
        let mut free: Vec<_> = self.entrants.iter().filter(is_free).collect();
        free.sort_by_key(|(_, entrant)| std::cmp::Reverse(entrant.score));
        let mut pairs = Vec::new();
        while let Some((user, entrant)) = free.pop() {
            // Whoever is nearest in points, if possible not the last opponent.
            let is_new =
                |(other, _): &(&String, &Entrant)| entrant.last_opponent.as_ref() != Some(*other);
            let last = free.len().checked_sub(1);
            let Some(at) = free.iter().rposition(is_new).or(last) else { break };
            let (other, opponent) = free.remove(at);
            let mut pair = [user.clone(), other.clone()];
            if entrant.white_surplus > opponent.white_surplus {
                pair.reverse();
            }
            pairs.push(pair);
        }
        pairs
    }
}

impl State {
    /// Announces a tournament; returns its id.
    pub(super) fn add_tournament(
        &mut self,
        spec: &TournamentSpec,
        now: Instant,
    ) -> Result<String, Refused> {
        let id = spec.id.clone().unwrap_or_else(|| self.random_id(8));
        if self.tournaments.contains_key(&id) {
            return Err(Refused::bad_request(format!("There is a tournament {id} already")));
        }
        let starts_at = now + Duration::from_millis(spec.starts_in_ms);
        let tournament = Tournament {
            id: id.clone(),
            spec: spec.clone(),
            starts_at,
            ends_at: starts_at + Duration::from_millis(spec.lasts_ms),
            starts_at_ms: epoch_ms() + spec.starts_in_ms,
            entrants: BTreeMap::new(),
            games: Vec::new(),
        };
        self.agenda.plan(tournament.starts_at, Task::RunTournament(id.clone()));
        self.agenda.plan(tournament.ends_at, Task::RunTournament(id.clone()));
        self.tournaments.insert(id.clone(), tournament);
        let team = spec.battle.first().map(String::as_str);
        let wish = Wish { password: spec.password.as_deref(), team, is_ready: true };
        for player in &spec.players {
            let user = self.account(player).map(|account| account.id.clone());
            let joined = user.and_then(|user| self.join_tournament(&user, &id, &wish, now));
            if let Err(refused) = joined {
                self.tournaments.remove(&id);
                return Err(refused);
            }
        }
        Ok(id)
    }

    pub(super) fn tournament(&self, id: &str) -> Result<&Tournament, Refused> {
        self.tournaments.get(id).ok_or_else(|| Refused::not_found("Not found"))
    }

    /// Lets a player join, or come back.
    pub(super) fn join_tournament(
        &mut self,
        user: &str,
        id: &str,
        wish: &Wish<'_>,
        now: Instant,
    ) -> Result<(), Refused> {
        let account = self.account(user)?;
        let (is_bot, rating) = (account.is_bot(), account.rating);
        let tournament =
            self.tournaments.get_mut(id).ok_or_else(|| Refused::not_found("Not found"))?;
        let spec = &tournament.spec;
        let is_paused = tournament
            .entrants
            .get(user)
            .is_some_and(|entrant| entrant.paused_until.is_some_and(|until| until > now));
        let is_for_team = |team: &str| spec.battle.iter().any(|of| of == team);
        let refusal = if tournament.status(now) == "finished" {
            Some("This tournament is over")
        } else if is_bot && !spec.bots {
            Some("Bots are not allowed in this tournament")
        } else if spec.password.is_some() && spec.password.as_deref() != wish.password {
            Some("Missing or wrong password")
        } else if spec.min_rating.is_some_and(|min| rating < min)
            || spec.max_rating.is_some_and(|max| rating > max)
        {
            Some("Your rating does not fit this tournament")
        } else if !spec.battle.is_empty() && !wish.team.is_some_and(is_for_team) {
            Some("You must join for one of the teams")
        } else if is_paused {
            Some("You have just left this tournament")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return Err(Refused::bad_request(refusal));
        }
        let entrant = tournament.entrants.entry(user.to_owned()).or_default();
        entrant.is_withdrawn = false;
        if wish.is_ready {
            entrant.ready_until = Some(now + READY_FOR);
        }
        let at = tournament.starts_at.max(now);
        self.agenda.plan(at, Task::RunTournament(id.to_owned()));
        Ok(())
    }

    /// Lets a player leave, or pause. A running game goes on.
    pub(super) fn withdraw(&mut self, user: &str, id: &str, now: Instant) -> Result<(), Refused> {
        let tournament =
            self.tournaments.get_mut(id).ok_or_else(|| Refused::not_found("Not found"))?;
        let has_begun = tournament.status(now) == "started";
        let pause = Duration::from_millis(tournament.spec.rejoin_pause_ms);
        if let Some(entrant) = tournament.entrants.get_mut(user) {
            entrant.is_withdrawn = true;
            if has_begun {
                entrant.pauses = (entrant.pauses + 1).min(LONGEST_PAUSE);
                entrant.paused_until = Some(now + pause * entrant.pauses);
            }
        }
        Ok(())
    }

    /// Pairs whoever waits.
    pub(super) fn run_tournament(&mut self, id: &str, now: Instant) {
        let Some(tournament) = self.tournaments.get(id) else { return };
        if tournament.status(now) != "started" || tournament.spec.variant != "atomic" {
            return;
        }
        let pairs = tournament.pair(|user, entrant| {
            self.is_house(user) || entrant.ready_until.is_some_and(|until| until > now)
        });
        let (control, rated) = (tournament.control(), tournament.spec.rated);
        let first_move = tournament.first_move_time();
        for users in pairs {
            let game = NewGame {
                id: self.random_id(8),
                control,
                rated,
                users: users.clone(),
                start: Position::initial(),
                tournament: Some(TournamentGame { id: id.to_owned(), first_move }),
            };
            if let Some(tournament) = self.tournaments.get_mut(id) {
                tournament.begin(&game.id, &users);
            }
            self.start_game(game, now);
        }
    }

    /// Keeps the score of a finished game, and lets its players wait for the next.
    pub(super) fn end_tournament_game(&mut self, game_id: &str, now: Instant) {
        let Some(game) = self.games.get(game_id) else { return };
        let Some(of) = &game.tournament else { return };
        let Some(tournament) = self.tournaments.get_mut(&of.id) else { return };
        let (winner, clocks) = (game.winner(), game.arbiter.clocks());
        // Whoever lets the first move time pass is not paired again.
        let has_not_begun = game.arbiter.plies() < 2;
        let is_in_time = tournament.status(now) == "started";
        for color in Color::ALL {
            let Some(entrant) = tournament.entrants.get_mut(&game.player(color).user) else {
                continue;
            };
            entrant.plays = None;
            if is_in_time {
                entrant.games += 1;
                entrant.score += match winner {
                    None => 1,
                    Some(winner) if winner == color => 2 + u32::from(clocks.is_berserk(color)),
                    Some(_) => 0,
                };
            }
            entrant.is_withdrawn |= has_not_begun && winner == Some(!color);
        }
        let at = now + Duration::from_millis(tournament.spec.pairing_pause_ms);
        self.agenda.plan(at, Task::RunTournament(of.id.clone()));
    }

    /// Gives half of a player's time for a point more.
    pub(super) fn berserk(&mut self, user: &str, id: &str, now: Instant) -> Result<(), Refused> {
        let refused = || Refused::bad_request("Cannot berserk");
        let (game, color) = self.game_of(user, id)?;
        let id = game.id.clone();
        let of = game.tournament.as_ref().ok_or_else(refused)?;
        if !self.tournament(&of.id)?.spec.berserkable {
            return Err(refused());
        }
        let Some(game) = self.games.get_mut(&id) else { return Err(refused()) };
        game.arbiter.berserk(color, now).map_err(|_| refused())?;
        self.publish(&id, now);
        Ok(())
    }
}

impl Tournament {
    fn begin(&mut self, game: &str, [white, black]: &[String; 2]) {
        self.games.push(game.to_owned());
        for (user, other, surplus) in [(white, black, 1), (black, white, -1)] {
            if let Some(entrant) = self.entrants.get_mut(user) {
                entrant.plays = Some(game.to_owned());
                entrant.last_opponent = Some(other.clone());
                entrant.white_surplus += surplus;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tournament(users: &[(&str, u32)]) -> Tournament {
        let now = Instant::now();
        let entrant = |&(user, score): &(&str, u32)| {
            (user.to_owned(), Entrant { score, ..Entrant::default() })
        };
        Tournament {
            id: "bOt4r3nA".to_owned(),
            spec: TournamentSpec::default(),
            starts_at: now,
            ends_at: now + Duration::from_hours(1),
            starts_at_ms: 0,
            entrants: users.iter().map(entrant).collect(),
            games: Vec::new(),
        }
    }

    fn pairs(tournament: &Tournament) -> Vec<String> {
        tournament.pair(|_, _| true).iter().map(|pair| pair.join("-")).collect()
    }

    #[test]
    fn neighbors_in_points_are_paired_with_changing_colors_and_opponents() {
        let mut tournament = tournament(&[("a", 6), ("b", 4), ("c", 2), ("d", 0)]);
        for expected in [["d-c", "b-a"], ["d-b", "c-a"], ["c-d", "a-b"]] {
            assert_eq!(pairs(&tournament), expected);
            for pair in tournament.pair(|_, _| true) {
                tournament.begin("g4m3g4m3", &pair);
            }
            assert!(pairs(&tournament).is_empty(), "all play");
            for entrant in tournament.entrants.values_mut() {
                entrant.plays = None;
            }
        }
        tournament.entrants.get_mut("a").expect("joined").is_withdrawn = true;
        assert_eq!(pairs(&tournament).len(), 1);
    }

    #[test]
    fn two_players_meet_again_and_one_waits() {
        let mut tournament = tournament(&[("a", 0), ("b", 0)]);
        tournament.begin("g4m3g4m3", &["a".to_owned(), "b".to_owned()]);
        for entrant in tournament.entrants.values_mut() {
            entrant.plays = None;
        }
        assert_eq!(pairs(&tournament), ["b-a"]);
        tournament.entrants.remove("b");
        assert!(pairs(&tournament).is_empty());
    }

    #[test]
    fn first_moves_have_a_time_that_follows_from_the_speed() {
        let mut tournament = tournament(&[]);
        for (limit_s, seconds) in [(15, 11), (60, 16), (180, 21), (600, 25), (1800, 30)] {
            tournament.spec.limit_s = limit_s;
            assert_eq!(tournament.first_move_time(), Duration::from_secs(seconds));
        }
        tournament.spec.first_move_ms = 50;
        assert_eq!(tournament.first_move_time(), Duration::from_millis(50));
    }
}
