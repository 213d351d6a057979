//! Which search has how many cores: pure bookkeeping, without clocks, threads and waiting.
//!
//! Searches on their own clock come first, in the order in which they asked. Each gets its cores
//! once and keeps them to its end; those of pondering searches count as idle for it. What is left is
//! dealt anew to the pondering searches at each change, so that one of them loses its cores the
//! moment another search wants them.

/// Names a search from its asking to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

/// On whose time a search runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Turn {
    /// Our own clock runs, or none.
    Ours,
    /// The opponent's: we ponder.
    Theirs,
}

/// One search that has cores or wants them.
#[derive(Clone, Copy, Debug)]
struct Entry {
    ticket: Ticket,
    turn: Turn,
    /// It can use no more cores than this.
    most: usize,
    cores: usize,
}

/// The searches, in the order in which they asked.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    cores: usize,
    entries: Vec<Entry>,
    next: u64,
}

impl Ledger {
    /// No searches on so many cores, at least one.
    pub(super) fn new(cores: usize) -> Self {
        Self { cores: cores.max(1), entries: Vec::new(), next: 0 }
    }

    /// A search begins that can use so many cores.
    pub(super) fn ask(&mut self, turn: Turn, most: usize) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.entries.push(Entry { ticket, turn, most: most.max(1), cores: 0 });
        self.deal();
        ticket
    }

    /// The opponent has played the move that a search ponders on: it asks again, now on its own
    /// clock. If it had a core, it has one afterwards.
    pub(super) fn promote(&mut self, ticket: Ticket) {
        let is_pondering = |entry: &mut Entry| entry.ticket == ticket && entry.turn == Turn::Theirs;
        let Some(entry) = self.entries.extract_if(.., is_pondering).next() else { return };
        self.entries.push(Entry { turn: Turn::Ours, cores: 0, ..entry });
        self.deal();
    }

    /// A search on its own clock can wait no longer: it runs with one thread beside the others.
    pub(super) fn force(&mut self, ticket: Ticket) {
        let waits = |entry: &&mut Entry| {
            entry.ticket == ticket && entry.turn == Turn::Ours && entry.cores == 0
        };
        if let Some(entry) = self.entries.iter_mut().find(waits) {
            entry.cores = 1;
            self.deal();
        }
    }

    /// A search is over.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        self.entries.retain(|entry| entry.ticket != ticket);
        self.deal();
    }

    /// The cores that each search has now.
    pub(super) fn shares(&self) -> impl Iterator<Item = (Ticket, usize)> {
        self.entries.iter().map(|entry| (entry.ticket, entry.cores))
    }

    /// Gives cores to those who wait on their own clock, then the rest to those who ponder.
    fn deal(&mut self) {
        let (mut active, mut taken) = (0, 0);
        for entry in self.entries.iter().filter(|entry| entry.turn == Turn::Ours) {
            active += 1;
            taken += entry.cores;
        }
        let mut left = self.cores.saturating_sub(taken);
        let waits = |entry: &&mut Entry| entry.turn == Turn::Ours && entry.cores == 0;
        let share = share_of(self.cores, active);
        for entry in self.entries.iter_mut().filter(waits) {
            entry.cores = entry.most.min(share).min(left);
            left -= entry.cores;
        }
        let share = share_of(left, self.entries.len() - active);
        for entry in self.entries.iter_mut().filter(|entry| entry.turn == Turn::Theirs) {
            entry.cores = entry.most.min(share).min(left);
            left -= entry.cores;
        }
    }
}

/// What each of so many searches gets of some cores: at least one, as long as there is one.
fn share_of(cores: usize, searches: usize) -> usize {
    (cores / searches.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(ledger: &Ledger) -> Vec<usize> {
        ledger.shares().map(|(_, cores)| cores).collect()
    }

    #[test]
    fn a_search_on_its_own_clock_takes_the_core_of_one_that_ponders() {
        let mut ledger = Ledger::new(1);
        let ponder = ledger.ask(Turn::Theirs, 1);
        assert_eq!(shares(&ledger), [1]);
        let own = ledger.ask(Turn::Ours, 1);
        assert_eq!(shares(&ledger), [0, 1]);
        ledger.leave(own);
        assert_eq!(shares(&ledger), [1], "it goes on");
        ledger.leave(ponder);
        assert_eq!(shares(&ledger), [0; 0]);
    }

    #[test]
    fn own_clocks_wait_in_the_order_of_asking() {
        let mut ledger = Ledger::new(2);
        let own = [(); 4].map(|()| ledger.ask(Turn::Ours, 1));
        assert_eq!(shares(&ledger), [1, 1, 0, 0]);
        ledger.leave(own[1]);
        assert_eq!(shares(&ledger), [1, 1, 0]);
        ledger.leave(own[0]);
        assert_eq!(shares(&ledger), [1, 1]);
    }

    #[test]
    fn cores_are_shared_by_the_games_whose_clocks_run() {
        let mut ledger = Ledger::new(6);
        let first = ledger.ask(Turn::Ours, 8);
        assert_eq!(shares(&ledger), [6], "alone");
        ledger.ask(Turn::Ours, 8);
        assert_eq!(shares(&ledger), [6, 0], "nothing is taken away within a search");
        ledger.leave(first);
        assert_eq!(shares(&ledger), [6]);
        let mut ledger = Ledger::new(6);
        ledger.ask(Turn::Ours, 2);
        assert_eq!(shares(&ledger), [2], "no more than it can use");
        ledger.ask(Turn::Ours, 8);
        assert_eq!(shares(&ledger), [2, 3]);
        ledger.ask(Turn::Ours, 8);
        assert_eq!(shares(&ledger), [2, 3, 1]);
    }

    #[test]
    fn who_ponders_gets_what_is_idle() {
        let mut ledger = Ledger::new(4);
        ledger.ask(Turn::Theirs, 4);
        assert_eq!(shares(&ledger), [4]);
        ledger.ask(Turn::Theirs, 4);
        assert_eq!(shares(&ledger), [2, 2]);
        let own = ledger.ask(Turn::Ours, 3);
        assert_eq!(shares(&ledger), [1, 0, 3]);
        ledger.leave(own);
        assert_eq!(shares(&ledger), [2, 2]);
    }

    #[test]
    fn a_hit_keeps_its_core_and_may_get_more() {
        let mut ledger = Ledger::new(4);
        let own = ledger.ask(Turn::Ours, 2);
        let ponder = ledger.ask(Turn::Theirs, 4);
        let other = ledger.ask(Turn::Theirs, 4);
        assert_eq!(shares(&ledger), [2, 1, 1]);
        ledger.promote(ponder);
        assert_eq!(shares(&ledger), [2, 0, 2]);
        ledger.promote(other);
        assert_eq!(shares(&ledger), [2, 2, 0], "it waits like any other");
        ledger.leave(own);
        assert_eq!(shares(&ledger), [2, 2]);
        ledger.promote(own);
        ledger.force(own);
        assert_eq!(shares(&ledger), [2, 2], "what is over stays over");
    }

    #[test]
    fn who_cannot_wait_runs_beside_the_others() {
        let mut ledger = Ledger::new(1);
        let [first, _, last] = [(); 3].map(|()| ledger.ask(Turn::Ours, 1));
        ledger.force(last);
        assert_eq!(shares(&ledger), [1, 0, 1]);
        ledger.leave(first);
        assert_eq!(shares(&ledger), [0, 1], "the core is taken");
        ledger.leave(last);
        assert_eq!(shares(&ledger), [1]);
    }

    /// Random sequences of everything that can happen; what must always hold is compared after each.
    #[test]
    fn every_sequence_keeps_the_rules() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2_000 {
            let cores = random.usize(1..=6);
            let mut ledger = Ledger::new(cores);
            let mut forced: Vec<Ticket> = Vec::new();
            for _ in 0..60 {
                let before = ledger.clone();
                let known = random.choice(&before.entries).map(|entry| entry.ticket);
                match (random.u8(0..8), known) {
                    (0..=1, _) | (_, None) => {
                        ledger.ask(Turn::Ours, random.usize(1..=4));
                    }
                    (2..=3, _) => {
                        ledger.ask(Turn::Theirs, random.usize(1..=4));
                    }
                    (4, Some(ticket)) => {
                        ledger.promote(ticket);
                        let had = |ledger: &Ledger| {
                            ledger.shares().any(|(other, cores)| other == ticket && cores > 0)
                        };
                        assert!(!had(&before) || had(&ledger), "a hit lost its core");
                    }
                    (5, Some(ticket)) => {
                        let waits = |entry: &Entry| {
                            entry.ticket == ticket && entry.turn == Turn::Ours && entry.cores == 0
                        };
                        if before.entries.iter().any(waits) {
                            forced.push(ticket);
                        }
                        ledger.force(ticket);
                    }
                    (_, Some(ticket)) => ledger.leave(ticket),
                }
                forced.retain(|&ticket| ledger.shares().any(|(other, _)| other == ticket));
                check(&ledger, &before, forced.len());
            }
        }
    }

    fn check(ledger: &Ledger, before: &Ledger, forced: usize) {
        let own = || ledger.entries.iter().filter(|entry| entry.turn == Turn::Ours);
        let pondering = || ledger.entries.iter().filter(|entry| entry.turn == Turn::Theirs);
        let taken: usize = ledger.shares().map(|(_, cores)| cores).sum();
        assert!(taken <= ledger.cores + forced, "more cores than there are: {ledger:?}");
        assert!(ledger.entries.iter().all(|entry| entry.cores <= entry.most), "{ledger:?}");
        let waits = own().any(|entry| entry.cores == 0);
        assert!(
            !waits || pondering().all(|entry| entry.cores == 0),
            "one ponders while another's clock runs: {ledger:?}"
        );
        let waits = waits || pondering().any(|entry| entry.cores == 0);
        assert!(!waits || taken >= ledger.cores, "one waits beside an idle core: {ledger:?}");
        for entry in own() {
            let earlier = before.entries.iter().find(|other| other.ticket == entry.ticket);
            let earlier = earlier.filter(|other| other.turn == Turn::Ours);
            let had = earlier.map_or(0, |earlier| earlier.cores);
            assert!(had == 0 || entry.cores == had, "cores changed within a search: {ledger:?}");
        }
        // Who came later and waited too was not served before, unless it could not wait.
        let served: Vec<bool> = own()
            .filter(|entry| {
                before.entries.iter().any(|other| {
                    other.ticket == entry.ticket && other.turn == Turn::Ours && other.cores == 0
                })
            })
            .map(|entry| entry.cores > 0)
            .collect();
        let out_of_turn = served.iter().skip_while(|&&served| served).filter(|&&s| s).count();
        assert!(out_of_turn <= forced, "not in the order of asking: {ledger:?}");
    }
}
