//! Faults on demand: at random by rate, or scripted to strike once.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;
use strum::{EnumCount, IntoStaticStr};
use tokio::sync::watch;

use crate::arena::line::LineKind;

/// So many strikes are remembered.
const MOST_STRUCK: usize = 10_000;

/// The kinds of endpoint that a fault can be aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoint {
    /// All of them.
    Any,
    /// Account, tokens, upgrade, running games.
    Account,
    /// The account's event stream.
    EventStream,
    /// The streams of single games.
    GameStream,
    /// Moves.
    Move,
    /// Abort, resign, draw, takeback, claims and berserk.
    GameCommand,
    /// Chat in a game.
    Chat,
    /// Creating and looking up challenges.
    Challenge,
    /// Accepting, declining and cancelling challenges.
    ChallengeAnswer,
    /// Tournaments.
    Tournament,
    /// Everything else.
    Other,
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, EnumCount, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Fault {
    /// Too many requests: nothing is carried out.
    TooManyRequests {
        /// The `Retry-After` header, in seconds.
        #[serde(default)]
        retry_after: Option<u64>,
        /// The `ratelimit` object in the body: key and seconds.
        #[serde(default)]
        ratelimit: Option<(String, u64)>,
        /// An HTML page instead of JSON, as a front end sends it.
        #[serde(default)]
        html: bool,
    },
    /// 400 with a `ratelimit` object, as for an opponent who has used up its quota.
    OpponentLimit {
        /// The key.
        key: String,
        /// How long to leave this opponent alone.
        seconds: u64,
    },
    /// A 5xx status with an HTML page: nothing is carried out.
    ServerError {
        /// The status, such as 502 or 504.
        status: u16,
    },
    /// A legal move is refused with 400 and not carried out.
    RefuseMove,
    /// An HTML page with this status, even with 200: nothing is carried out.
    Html {
        /// The status.
        status: u16,
    },
    /// The command is carried out, but an HTML page with this status says otherwise.
    ErrorAfter {
        /// The status, such as 504.
        status: u16,
    },
    /// The command is carried out, then the connection is closed without an answer.
    LostAnswer,
    /// The command is carried out, then the connection is reset (RST) without an answer.
    ResetAnswer,
    /// The command is carried out, but the answer never comes.
    HungAnswer,
    /// Nothing is carried out and no answer comes.
    HungRequest,
    /// The answer comes late.
    Delay {
        /// By so many milliseconds.
        ms: u64,
    },
    /// The request comes late: what it asks for is done so much later.
    DelayRequest {
        /// By so many milliseconds.
        ms: u64,
    },
    /// The connection is reset (RST): of a request before it is carried out, of a stream in the
    /// middle of a line.
    Reset,
    /// The stream breaks off in the middle of a line, without a proper end.
    Cut,
    /// The stream ends properly although more was to come.
    End,
    /// The connection stays open and falls silent, keep-alives included.
    Stall,
    /// Keep-alives go on, but no line comes any more, nor an end.
    Deaf,
    /// An error object with this text comes as a line of its own; the stream goes on.
    ErrorLine {
        /// The text.
        text: String,
    },
    /// The line, and those behind it, come late. Keep-alives go on.
    DelayLine {
        /// By so many milliseconds.
        ms: u64,
    },
    /// The line never comes. Strikes no `gameFull`.
    DropLine,
    /// The `gameState` has a legal list of moves that contradicts those before it.
    Rewrite,
    /// A stale `gameState` stands before the `gameState`: the list lacks its last two moves.
    Shrink,
    /// The line comes in tiny pieces.
    Split,
    /// The line comes twice.
    Duplicate,
    /// The line comes in one piece with a keep-alive and all that waits behind it.
    Merge,
    /// The line has unknown fields, and a line of an unknown type stands before it.
    UnknownFields,
    /// A line that is no JSON stands before the line.
    Garbage,
}

/// A fault that strikes at random.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// Where.
    pub endpoint: Endpoint,
    /// What.
    pub fault: Fault,
    /// How often: 0 never, 1 at every request or line.
    pub rate: f64,
}

/// What a fault is asked for.
#[derive(Clone, Copy)]
enum Occasion {
    Request,
    /// A line is about to be sent.
    Line(LineKind),
    /// A stream is open, and the fault was scripted just now.
    IdleStream,
}

/// A fault that strikes once.
#[derive(Debug)]
struct Scripted {
    endpoint: Endpoint,
    fault: Fault,
    /// Requests or lines of this endpoint that it lets pass first.
    skip: u32,
}

/// All faults to come, and the record of those that have struck.
#[derive(Debug)]
pub struct FaultPlan {
    plan: Mutex<Plan>,
    /// Goes up when a fault is scripted; open streams watch it, so that a cut comes at once.
    scripted: watch::Sender<u64>,
}

#[derive(Debug)]
struct Plan {
    rules: Vec<FaultRule>,
    script: Vec<Scripted>,
    struck: VecDeque<(Endpoint, Fault)>,
    /// How often each kind has struck.
    strikes: BTreeMap<&'static str, u64>,
    rng: fastrand::Rng,
}

impl Fault {
    /// Whether the fault belongs to requests, even if it strikes none just now.
    fn concerns_requests(&self) -> bool {
        match self {
            Self::TooManyRequests { .. }
            | Self::OpponentLimit { .. }
            | Self::ServerError { .. }
            | Self::RefuseMove
            | Self::Html { .. }
            | Self::ErrorAfter { .. }
            | Self::LostAnswer
            | Self::ResetAnswer
            | Self::HungAnswer
            | Self::HungRequest
            | Self::Delay { .. }
            | Self::DelayRequest { .. }
            | Self::Reset => true,
            Self::Cut
            | Self::End
            | Self::Stall
            | Self::Deaf
            | Self::ErrorLine { .. }
            | Self::DelayLine { .. }
            | Self::DropLine
            | Self::Rewrite
            | Self::Shrink
            | Self::Split
            | Self::Duplicate
            | Self::Merge
            | Self::UnknownFields
            | Self::Garbage => false,
        }
    }

    /// Whether the fault belongs to streams.
    fn concerns_streams(&self) -> bool {
        !self.concerns_requests() || *self == Self::Reset
    }

    /// Whether the fault can strike here.
    fn fits(&self, occasion: Occasion) -> bool {
        match occasion {
            Occasion::Request => self.concerns_requests(),
            Occasion::Line(kind) => match self {
                Self::DropLine => !matches!(kind, LineKind::Full { .. }),
                Self::Rewrite | Self::Shrink => {
                    matches!(kind, LineKind::State { plies: 2.., is_running: true })
                }
                _ => self.concerns_streams(),
            },
            // These concern the connection and so need no line to strike at.
            Occasion::IdleStream => matches!(
                self,
                Self::Cut
                    | Self::End
                    | Self::Stall
                    | Self::Reset
                    | Self::Deaf
                    | Self::ErrorLine { .. }
            ),
        }
    }
}

impl Endpoint {
    fn covers(self, other: Self) -> bool {
        self == Self::Any || self == other
    }
}

impl FaultPlan {
    pub(super) fn new(rules: Vec<FaultRule>, seed: u64) -> Self {
        let plan = Plan {
            rules,
            script: Vec::new(),
            struck: VecDeque::new(),
            strikes: BTreeMap::new(),
            rng: fastrand::Rng::with_seed(seed),
        };
        Self { plan: Mutex::new(plan), scripted: watch::Sender::new(0) }
    }

    /// Lets a fault strike once: at the next request, or, for those of streams, at the next line.
    /// What concerns the whole stream strikes an open one at once: a cut, an end, a stall, a reset,
    /// deafness and an error line. A fault that fits the next line badly waits for one that it fits.
    pub fn inject(&self, endpoint: Endpoint, fault: Fault) {
        self.inject_after(endpoint, fault, 0);
    }

    /// The same, after so many requests or lines have passed unharmed.
    pub fn inject_after(&self, endpoint: Endpoint, fault: Fault, skip: u32) {
        self.lock().script.push(Scripted { endpoint, fault, skip });
        self.scripted.send_modify(|generation| *generation += 1);
    }

    /// Replaces the faults that strike at random.
    pub fn set_rules(&self, rules: Vec<FaultRule>) {
        self.lock().rules = rules;
    }

    /// No more faults, random or scripted. Those at work go on.
    pub fn clear(&self) {
        let mut plan = self.lock();
        plan.rules.clear();
        plan.script.clear();
    }

    /// What has struck so far, in order; of very many the latest.
    pub fn struck(&self) -> Vec<(Endpoint, Fault)> {
        self.lock().struck.iter().cloned().collect()
    }

    /// How often each kind of fault has struck, by its name in files of options.
    pub fn strikes(&self) -> BTreeMap<&'static str, u64> {
        self.lock().strikes.clone()
    }

    /// The fault of a request to this endpoint.
    pub(super) fn of_request(&self, endpoint: Endpoint) -> Option<Fault> {
        self.lock().draw(endpoint, Occasion::Request)
    }

    /// The fault of a line on a stream of this endpoint.
    pub(super) fn of_line(&self, endpoint: Endpoint, kind: LineKind) -> Option<Fault> {
        self.lock().draw(endpoint, Occasion::Line(kind))
    }

    /// The fault that strikes a stream of this endpoint while it is idle.
    pub(super) fn of_idle_stream(&self, endpoint: Endpoint) -> Option<Fault> {
        let mut plan = self.lock();
        let strikes = |scripted: &Scripted| {
            scripted.endpoint.covers(endpoint)
                && scripted.skip == 0
                && scripted.fault.fits(Occasion::IdleStream)
        };
        let at = plan.script.iter().position(strikes)?;
        let fault = plan.script.remove(at).fault;
        plan.note(endpoint, &fault);
        Some(fault)
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.scripted.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// The script goes before chance; of the script, what was written first.
    fn draw(&mut self, endpoint: Endpoint, occasion: Occasion) -> Option<Fault> {
        let scripted = self.draw_scripted(endpoint, occasion);
        let fault = scripted.or_else(|| self.roll(endpoint, occasion))?;
        self.note(endpoint, &fault);
        Some(fault)
    }

    fn draw_scripted(&mut self, endpoint: Endpoint, occasion: Occasion) -> Option<Fault> {
        let mut due = None;
        for (at, scripted) in self.script.iter_mut().enumerate() {
            let is_of_this_kind = match occasion {
                Occasion::Request => scripted.fault.concerns_requests(),
                Occasion::Line(_) | Occasion::IdleStream => scripted.fault.concerns_streams(),
            };
            if !scripted.endpoint.covers(endpoint) || !is_of_this_kind {
                continue;
            }
            match scripted.skip.checked_sub(1) {
                Some(left) => scripted.skip = left,
                None if scripted.fault.fits(occasion) => due = due.or(Some(at)),
                None => {}
            }
        }
        due.map(|at| self.script.remove(at).fault)
    }

    fn roll(&mut self, endpoint: Endpoint, occasion: Occasion) -> Option<Fault> {
        let Self { rules, rng, .. } = self;
        rules
            .iter()
            .filter(|rule| rule.endpoint.covers(endpoint) && rule.fault.fits(occasion))
            .find(|rule| rng.f64() < rule.rate)
            .map(|rule| rule.fault.clone())
    }

    fn note(&mut self, endpoint: Endpoint, fault: &Fault) {
        *self.strikes.entry(fault.into()).or_default() += 1;
        if self.struck.len() >= MOST_STRUCK {
            self.struck.pop_front();
        }
        self.struck.push_back((endpoint, fault.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scripted_fault_strikes_once_and_where_it_should() {
        let plan = FaultPlan::new(Vec::new(), 1);
        plan.inject(Endpoint::Move, Fault::LostAnswer);
        plan.inject(Endpoint::Move, Fault::Cut);
        assert_eq!(plan.of_request(Endpoint::Account), None);
        assert_eq!(plan.of_request(Endpoint::Move), Some(Fault::LostAnswer));
        assert_eq!(plan.of_request(Endpoint::Move), None);
        assert_eq!(plan.struck(), [(Endpoint::Move, Fault::LostAnswer)]);
        assert_eq!(plan.strikes(), BTreeMap::from([("lost-answer", 1)]));
    }

    #[test]
    fn a_scripted_fault_lets_others_pass_first() {
        let plan = FaultPlan::new(Vec::new(), 1);
        plan.inject_after(Endpoint::Any, Fault::Duplicate, 2);
        let lines: Vec<_> =
            (0..4).map(|_| plan.of_line(Endpoint::GameStream, LineKind::Other).is_some()).collect();
        assert_eq!(lines, [false, false, true, false]);
    }

    #[test]
    fn only_a_connection_fault_strikes_an_idle_stream() {
        let plan = FaultPlan::new(Vec::new(), 1);
        plan.inject(Endpoint::EventStream, Fault::Split);
        plan.inject(Endpoint::EventStream, Fault::Stall);
        assert_eq!(plan.of_idle_stream(Endpoint::GameStream), None);
        assert_eq!(plan.of_idle_stream(Endpoint::EventStream), Some(Fault::Stall));
        assert_eq!(plan.of_idle_stream(Endpoint::EventStream), None);
    }

    #[test]
    fn a_fault_waits_for_a_line_that_it_fits() {
        let plan = FaultPlan::new(Vec::new(), 1);
        plan.inject(Endpoint::GameStream, Fault::Rewrite);
        plan.inject_after(Endpoint::GameStream, Fault::DropLine, 1);
        let draw = |kind| plan.of_line(Endpoint::GameStream, kind);
        assert_eq!(draw(LineKind::Full { plies: 8 }), None);
        assert_eq!(draw(LineKind::Full { plies: 8 }), None);
        assert_eq!(draw(LineKind::Other), Some(Fault::DropLine));
        assert_eq!(draw(LineKind::State { plies: 1, is_running: true }), None);
        assert_eq!(draw(LineKind::State { plies: 8, is_running: false }), None);
        assert_eq!(draw(LineKind::State { plies: 2, is_running: true }), Some(Fault::Rewrite));
    }

    #[test]
    fn a_reset_strikes_requests_and_streams() {
        let plan = FaultPlan::new(Vec::new(), 1);
        plan.inject(Endpoint::Any, Fault::Reset);
        plan.inject(Endpoint::Any, Fault::Reset);
        plan.inject(Endpoint::Any, Fault::Reset);
        assert_eq!(plan.of_request(Endpoint::Move), Some(Fault::Reset));
        assert_eq!(plan.of_line(Endpoint::GameStream, LineKind::Other), Some(Fault::Reset));
        assert_eq!(plan.of_idle_stream(Endpoint::EventStream), Some(Fault::Reset));
    }

    #[test]
    fn rates_follow_the_seed() {
        let rule = FaultRule { endpoint: Endpoint::Move, fault: Fault::HungAnswer, rate: 0.5 };
        let draw = |seed| {
            let plan = FaultPlan::new(vec![rule.clone()], seed);
            (0..64).map(|_| plan.of_request(Endpoint::Move).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        let hits = draw(7).into_iter().filter(|&hit| hit).count();
        assert!((16..=48).contains(&hits), "{hits} of 64");
    }
}
