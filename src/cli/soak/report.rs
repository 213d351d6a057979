//! What came of a soak, and which bars it missed.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    time::Duration,
};

use crate::{arena::Counters, cli::soak::usage::Usage};

/// Resident memory may grow so much after the first games: what allocators keep back. A leak of
/// 16 KiB in each of 1,000 games is more.
const MEMORY_SLACK_KIB: u64 = 12 * 1024;
/// Connections that wait to be used again, for each game at once: one of its stream, one of its
/// moves, and as many for what is asked besides. Each is open at both ends in this process.
const HANDLES_A_GAME: usize = 8;

/// What came of it.
#[derive(Debug)]
pub(super) struct Report {
    /// Games that were to be played.
    pub(super) games: u32,
    /// Games that were.
    pub(super) played: u64,
    /// Games at once.
    pub(super) concurrency: u32,
    pub(super) time: Duration,
    pub(super) restarts: u32,
    pub(super) counters: Counters,
    /// How often each kind of fault struck.
    pub(super) strikes: BTreeMap<&'static str, u64>,
    /// Slots that no game gets any more; `None` if that was not tried.
    pub(super) stuck_slots: Option<u32>,
    pub(super) usage: Usages,
    /// Why it ended early.
    pub(super) failure: Option<String>,
}

/// What the process held in the course of the soak.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usages {
    /// Before there was an arena or a bot.
    pub(super) start: Usage,
    /// When every slot had had a few games.
    pub(super) warm: Option<Usage>,
    /// After the last game, the bot still online.
    pub(super) idle: Usage,
    /// When arena and bot had ended.
    pub(super) end: Usage,
}

impl Report {
    /// A sentence for each bar that was missed.
    pub(super) fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut none = |count: u64, what: &str| {
            if count > 0 {
                missed.push(format!("{count} {what}"));
            }
        };
        none(self.illegal_moves(), "illegal moves");
        none(self.counters.untimely_moves, "moves out of turn or twice");
        none(self.counters.flags_lost, "games lost on time");
        none(self.stuck_slots.unwrap_or(0).into(), "stuck slots");
        none(self.counters.unauthorized, "requests without the right token");
        none(self.counters.unknown_paths, "requests for unknown paths");
        if self.played < self.games.into() {
            missed.push(format!("{} games of {}", self.played, self.games));
        }
        missed.extend(self.failure.clone());
        missed.extend(self.leaked_memory());
        missed.extend(self.leaked_handles());
        missed
    }

    fn illegal_moves(&self) -> u64 {
        self.counters.illegal_moves + self.counters.malformed_moves
    }

    fn leaked_memory(&self) -> Option<String> {
        let Usages { warm, idle, .. } = self.usage;
        let grown = idle.memory_kib?.saturating_sub(warm?.memory_kib?);
        (grown > MEMORY_SLACK_KIB).then(|| format!("memory grew by {grown} KiB"))
    }

    fn leaked_handles(&self) -> Option<String> {
        let Usages { start, idle, end, .. } = self.usage;
        let (start, idle, end) = (start.handles?, idle.handles?, end.handles?);
        let games = usize::try_from(self.concurrency).unwrap_or(usize::MAX);
        let most = start.saturating_add(HANDLES_A_GAME.saturating_mul(games + 1));
        if end > start {
            Some(format!("{} file handles were left open", end - start))
        } else {
            (idle > most).then(|| format!("{idle} file handles were open, more than {most}"))
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { games, played, counters, usage, restarts, .. } = self;
        let Counters { aborted, resigned, flags_lost, untimely_moves, .. } = counters;
        writeln!(f, "games            {played} of {games} in {} s", self.time.as_secs())?;
        writeln!(f, "restarts         {restarts}")?;
        let struck: u64 = self.strikes.values().sum();
        writeln!(f, "faults           {struck} of {} kinds", self.strikes.len())?;
        for (kind, count) in &self.strikes {
            writeln!(f, "  {kind:<22} {count}")?;
        }
        writeln!(f, "illegal moves    {}", self.illegal_moves())?;
        writeln!(f, "untimely moves   {untimely_moves}")?;
        writeln!(f, "lost on time     {flags_lost}")?;
        let slots = self.stuck_slots.map_or("-".to_owned(), |count| count.to_string());
        writeln!(f, "stuck slots      {slots}")?;
        writeln!(f, "resigned         {resigned}")?;
        writeln!(f, "aborted          {aborted}")?;
        let Usages { start, warm, idle, end } = usage;
        writeln!(f, "                 start     warm     idle      end")?;
        let row = |value: &dyn Fn(&Usage) -> Option<u64>| {
            [Some(start), warm.as_ref(), Some(idle), Some(end)]
                .map(|usage| {
                    let value = usage.and_then(value);
                    format!("{:>9}", value.map_or("-".to_owned(), |value| value.to_string()))
                })
                .concat()
        };
        writeln!(f, "memory (KiB) {}", row(&|usage| usage.memory_kib))?;
        let handles = |usage: &Usage| usage.handles.and_then(|count| u64::try_from(count).ok());
        writeln!(f, "file handles {}", row(&handles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(memory_mib: u64, handles: usize) -> Usage {
        Usage { memory_kib: Some(1024 * memory_mib), handles: Some(handles) }
    }

    fn good() -> Report {
        Report {
            games: 10,
            played: 10,
            concurrency: 2,
            time: Duration::from_mins(1),
            restarts: 1,
            counters: Counters { resigned: 1, ..Counters::default() },
            strikes: BTreeMap::from([("cut", 3)]),
            stuck_slots: Some(0),
            usage: Usages {
                start: usage(10, 12),
                warm: Some(usage(40, 30)),
                idle: usage(44, 26),
                end: usage(20, 12),
            },
            failure: None,
        }
    }

    #[test]
    fn a_good_soak_misses_nothing() {
        assert_eq!(good().missed(), [""; 0]);
        let text = good().to_string();
        assert!(
            text.starts_with("games            10 of 10 in 60 s\nrestarts         1\n"),
            "{text}"
        );
        assert!(text.contains("\nfaults           3 of 1 kinds\n  cut                    3\n"));
        assert!(text.ends_with("\nfile handles        12       30       26       12\n"), "{text}");
    }

    #[test]
    fn each_bar_can_be_missed() {
        let missed = |change: &dyn Fn(&mut Report)| {
            let mut report = good();
            change(&mut report);
            report.missed()
        };
        for (change, expected) in [
            (&(|r: &mut Report| r.counters.illegal_moves = 1) as &dyn Fn(&mut Report), "1 illegal"),
            (&|r| r.counters.malformed_moves = 2, "2 illegal moves"),
            (&|r| r.counters.untimely_moves = 1, "1 moves out of turn"),
            (&|r| r.counters.flags_lost = 3, "3 games lost on time"),
            (&|r| r.played = 9, "9 games of 10"),
            (&|r| r.counters.unauthorized = 1, "1 requests without"),
            (&|r| r.counters.unknown_paths = 1, "1 requests for unknown"),
            (&|r| r.stuck_slots = Some(1), "1 stuck slots"),
            (&|r| r.failure = Some("it ended".to_owned()), "it ended"),
            (&|r| r.usage.idle = usage(60, 26), "memory grew by 20480 KiB"),
            (&|r| r.usage.idle = usage(44, 37), "37 file handles were open, more than 36"),
            (&|r| r.usage.end = usage(20, 14), "2 file handles were left open"),
        ] {
            let missed = missed(change);
            assert!(missed.len() == 1 && missed[0].starts_with(expected), "{missed:?}");
        }
    }

    #[test]
    fn what_the_system_does_not_tell_is_no_bar() {
        let mut report = good();
        let nothing = Usage { memory_kib: None, handles: None };
        report.usage = Usages { start: nothing, warm: None, idle: nothing, end: nothing };
        assert_eq!(report.missed(), [""; 0]);
        assert!(
            report.to_string().ends_with("file handles         -        -        -        -\n")
        );
    }
}
