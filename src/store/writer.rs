//! Writes what is to be remembered, on a thread of its own: nobody ever waits for the disk.
//!
//! A [`Store`] takes values and returns at once. What it cannot write it keeps, as far as there is
//! room, and tries again; that costs one warning, never a game.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::{
    sync::{oneshot, watch},
    time::timeout,
};
use tracing::{debug, error, info, warn};

use crate::store::{
    AccountKey, AnswerRecord, Archive, ChallengeRecord, Condition, Epoch, GameKey, GameRecord,
    MissedRecord, PgnFolder, State, StoreError, StoreHealth, error,
    import::import_states,
    pending::{Full, Note, Pending},
    read, schema, write,
};

/// How long what comes in is gathered before it is written. So a move is not written at the moment in
/// which it is posted, for which the bot needs the processor, and many games cost few transactions.
const GATHERING: Duration = Duration::from_millis(100);

/// How a store works.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The folder of the file; without one nothing is remembered.
    pub folder: Option<PathBuf>,
    /// Where each game goes as PGN when it ends, if anywhere. Needs the file, by which it is known
    /// whether a game has ended before.
    pub pgn: Option<PgnFolder>,
    /// How soon it is tried again when writing has failed.
    pub retry: Duration,
    /// The most pages of 4 KiB that the file may have.
    pub max_pages: Option<u32>,
    /// How long the start waits for the file. After that it is read while the bot plays.
    pub open_limit: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            folder: None,
            pgn: None,
            retry: Duration::from_secs(30),
            max_pages: None,
            open_limit: Duration::from_secs(1),
        }
    }
}

/// Where it is remembered what happens. Clones write to the same file. When the last one is dropped
/// the thread writes what waits and ends.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
    /// Tells the thread of the end.
    _closer: Arc<Closer>,
}

#[derive(Debug)]
struct Closer(Arc<Shared>);

impl Drop for Closer {
    fn drop(&mut self) {
        self.0.lock().is_closing = true;
        self.0.wake.notify_all();
    }
}

/// What the thread and the others share.
#[derive(Debug)]
struct Shared {
    /// Locked for as long as it takes to put something in or to take everything out.
    inbox: Mutex<Inbox>,
    /// Signalled when something is put into the empty inbox, when someone waits, and at the end.
    wake: Condvar,
    /// Written by whoever learns something new of it.
    health: watch::Sender<StoreHealth>,
}

#[derive(Debug, Default)]
struct Inbox {
    pending: Pending,
    /// The newest state of each account, as far as it is known.
    states: BTreeMap<AccountKey, Arc<State>>,
    /// Whether something was dropped since the last success.
    is_dropping: bool,
    /// Nothing will ever be written.
    is_given_up: bool,
    is_closing: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread if what was put into the inbox is the first, or someone waits for it.
    fn wake(&self, inbox: MutexGuard<'_, Inbox>, was_empty: bool) {
        let is_urgent = !inbox.pending.waiting.is_empty();
        drop(inbox);
        if was_empty || is_urgent {
            self.wake.notify_one();
        }
    }

    /// Nothing will be written any more, for this reason.
    fn give_up(&self, why: String) {
        self.set(Condition::Failing(why));
        let mut inbox = self.lock();
        inbox.is_given_up = true;
        // Whoever waits for it to be written is let go with it.
        inbox.pending = Pending::default();
    }

    fn set(&self, condition: Condition) {
        self.health.send_if_modified(|health| {
            let is_new = health.condition != condition;
            health.condition = condition;
            is_new
        });
    }
}

impl Store {
    /// A store that forgets everything.
    pub fn off() -> Self {
        let store = Self::new(Condition::Off);
        store.shared.lock().is_given_up = true;
        store
    }

    fn new(condition: Condition) -> Self {
        let health = watch::channel(StoreHealth { condition, dropped: 0 }).0;
        let (inbox, wake) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { inbox, wake, health });
        Self { _closer: Arc::new(Closer(Arc::clone(&shared))), shared }
    }

    /// Starts the thread, which opens the file. That takes milliseconds, and no more of it is waited
    /// for than [`StoreOptions::open_limit`]. Whatever is wrong with the file is told in the log, and
    /// the store is there all the same: a broken file is put aside; if the file cannot be used it is
    /// tried again, but for one of a newer version, which is left alone.
    pub fn open(options: &StoreOptions) -> Self {
        let Some(folder) = options.folder.clone() else { return Self::off() };
        let store = Self::new(Condition::Good);
        let writer = Writer {
            folder,
            options: options.clone(),
            connection: None,
            shared: Arc::clone(&store.shared),
            is_loaded: false,
            has_set_aside: false,
            is_pgn_failing: false,
        };
        // Dropped when the file was opened, or could not be.
        let (opening, opened) = mpsc::sync_channel::<()>(0);
        let thread = thread::Builder::new().name("store".to_owned());
        let spawned = thread.spawn(move || {
            let usable = writer.begin();
            drop(opening);
            if let Some(writer) = usable {
                writer.run();
            }
        });
        match spawned {
            Ok(_) => {
                if opened.recv_timeout(options.open_limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                    warn!("what is remembered cannot be read yet; the bot starts without it");
                }
            }
            Err(error) => {
                warn!(%error, "the system gives no thread; nothing is remembered");
                store.shared.give_up(error.to_string());
            }
        }
        store
    }

    /// How well it is remembered, now and later.
    pub fn health(&self) -> watch::Receiver<StoreHealth> {
        self.shared.health.subscribe()
    }

    /// What is remembered of an account besides its games and challenges.
    pub fn state(&self, key: &AccountKey) -> Arc<State> {
        self.shared.lock().states.get(key).cloned().unwrap_or_default()
    }

    /// Changes what is remembered of an account: without a file too, for as long as the program runs.
    pub fn change_state(&self, key: &AccountKey, change: impl FnOnce(&mut State)) {
        let mut inbox = self.shared.lock();
        let was_empty = inbox.pending.is_empty();
        let state = inbox.states.entry(key.clone()).or_default();
        change(Arc::make_mut(state));
        let state = Arc::clone(state);
        if !inbox.is_given_up {
            inbox.pending.states.insert(key.clone(), state);
        }
        self.shared.wake(inbox, was_empty);
    }

    /// Remembers a game as it stands.
    pub fn put_game(&self, record: GameRecord) {
        self.put(|inbox| inbox.pending.put_game(record));
    }

    /// Remembers what a game that is known did to our rating.
    pub fn put_rating_diff(&self, key: GameKey, diff: i32) {
        self.put(|inbox| inbox.pending.put_note(Note::RatingDiff(key, diff)));
    }

    /// Remembers that games ended while nobody looked.
    pub fn put_missed(&self, record: MissedRecord) {
        self.put(|inbox| inbox.pending.put_note(Note::Missed(record)));
    }

    /// Remembers a challenge.
    pub fn put_challenge(&self, record: ChallengeRecord) {
        self.put(|inbox| inbox.pending.put_note(Note::Challenge(record)));
    }

    /// Remembers what became of a challenge.
    pub fn put_answer(&self, record: AnswerRecord) {
        self.put(|inbox| inbox.pending.put_note(Note::Answer(record)));
    }

    /// Waits until everything so far is written, or has failed to be, but no longer than `limit`.
    /// Tells whether it came to that in time.
    pub async fn flush(&self, limit: Duration) -> bool {
        let (sender, receiver) = oneshot::channel();
        self.put(|inbox| {
            inbox.pending.waiting.push(sender);
            Ok(())
        });
        timeout(limit, receiver).await.is_ok()
    }

    fn put(&self, put: impl FnOnce(&mut Inbox) -> Result<(), Full>) {
        let mut inbox = self.shared.lock();
        if inbox.is_given_up {
            return;
        }
        let was_empty = inbox.pending.is_empty();
        if let Err(Full) = put(&mut inbox) {
            let is_first = !std::mem::replace(&mut inbox.is_dropping, true);
            drop(inbox);
            if is_first {
                warn!("too much waits to be written; what is new is not remembered");
            }
            self.shared.health.send_modify(|health| health.dropped += 1);
        } else {
            self.shared.wake(inbox, was_empty);
        }
    }
}

/// The thread.
struct Writer {
    folder: PathBuf,
    options: StoreOptions,
    /// Closed before the shared part is let go.
    connection: Option<Connection>,
    shared: Arc<Shared>,
    /// Whether the file was read, so that nothing in it is news.
    is_loaded: bool,
    /// One broken file is bad luck. Two are a disk that is broken.
    has_set_aside: bool,
    /// Whether games could last not be written as PGN.
    is_pgn_failing: bool,
}

impl Drop for Writer {
    fn drop(&mut self) {
        if thread::panicking() {
            error!(
                "the thread that writes what is to be remembered has panicked; nothing is any more"
            );
            self.shared.give_up("its thread has panicked; a restart is needed".to_owned());
        }
    }
}

impl Writer {
    fn path(&self) -> PathBuf {
        schema::file(&self.folder)
    }

    /// Opens the file for the first time. Returns itself unless that makes no sense any more.
    fn begin(mut self) -> Option<Self> {
        let is_usable = match self.connect() {
            Ok(()) => {
                info!(path = %self.path().display(), "remembering");
                true
            }
            Err(error) => self.fail(&error),
        };
        is_usable.then_some(self)
    }

    fn run(mut self) {
        loop {
            self.wait();
            // First of all: what the file knows may have to go into what is written.
            let connected = self.connect();
            let (mut batch, is_closing) = self.take();
            let waiting = std::mem::take(&mut batch.waiting);
            let result = connected.and_then(|()| self.write(&batch));
            let is_good = result.is_ok();
            if let Err(error) = result {
                if !self.fail(&error) {
                    return;
                }
                self.shared.lock().pending.put_back(batch);
            } else {
                self.succeed();
                if !waiting.is_empty() {
                    self.complete_file();
                }
            }
            for waiter in waiting {
                // Nobody has to wait to the end.
                let _ = waiter.send(());
            }
            if is_closing {
                return;
            }
            if !is_good {
                self.pause();
            }
        }
    }

    /// Waits for something to write, or the end. A file that was never read is to be read in any case,
    /// and one that failed is tried until it is well: nobody else would take the warning back.
    fn wait(&self) {
        if !self.is_loaded || self.shared.health.borrow().is_failing() {
            return;
        }
        let idle = |inbox: &mut Inbox| inbox.pending.is_empty() && !inbox.is_closing;
        let inbox = self.shared.wake.wait_while(self.shared.lock(), idle);
        let has_time = |inbox: &mut Inbox| inbox.pending.waiting.is_empty() && !inbox.is_closing;
        let inbox = inbox.unwrap_or_else(PoisonError::into_inner);
        drop(self.shared.wake.wait_timeout_while(inbox, GATHERING, has_time));
    }

    /// Takes all that there is to write. Tells whether it is the last.
    fn take(&self) -> (Pending, bool) {
        let mut inbox = self.shared.lock();
        (std::mem::take(&mut inbox.pending), inbox.is_closing)
    }

    /// Waits until it is worth trying again. At the end there is one more try at once, and for
    /// whoever waits as well.
    fn pause(&self) {
        let until = Instant::now() + self.options.retry;
        let mut inbox = self.shared.lock();
        while !inbox.is_closing && inbox.pending.waiting.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let woken = self.shared.wake.wait_timeout(inbox, left);
            inbox = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sees to it that the file is open. A broken one is put aside.
    fn connect(&mut self) -> Result<(), StoreError> {
        if self.connection.is_some() {
            return Ok(());
        }
        let max_pages = self.options.max_pages;
        let connection = match self.open(max_pages) {
            Err(error) if error.is_broken() && !self.has_set_aside => {
                self.set_aside(&error);
                self.open(max_pages)?
            }
            result => result?,
        };
        self.connection = Some(connection);
        Ok(())
    }

    /// Opens the file and reads what is needed of it.
    fn open(&mut self, max_pages: Option<u32>) -> Result<Connection, StoreError> {
        let connection = schema::open(&self.folder, max_pages)?;
        let wrong = |cause| StoreError::File { path: self.path(), cause };
        import_states(&self.folder, &connection).map_err(wrong)?;
        let states = read::states(&connection).map_err(wrong)?;
        let is_first = !std::mem::replace(&mut self.is_loaded, true);
        let mut inbox = self.shared.lock();
        let Inbox { pending, states: known, .. } = &mut *inbox;
        if is_first {
            // What was learned while the file could not be read adds to what it knows.
            for (key, old) in &states {
                let state = known.entry(key.clone()).or_default();
                *state = Arc::new(old.with_later(state));
            }
        }
        // The file may have lost what was in it, or may never have got it.
        for (key, state) in known.iter().filter(|(key, state)| states.get(key) != Some(&***state)) {
            pending.states.insert(key.clone(), Arc::clone(state));
        }
        drop(inbox);
        Ok(connection)
    }

    fn set_aside(&mut self, cause: &StoreError) {
        self.has_set_aside = true;
        self.connection = None;
        match schema::set_aside(&self.path(), Epoch::now()) {
            Ok(aside) => warn!(
                error = %cause, aside = %aside.display(),
                "the file of what is remembered is broken, and put aside; a new one is begun"
            ),
            Err(error) => warn!(%error, "a broken file cannot be put aside"),
        }
    }

    fn write(&mut self, batch: &Pending) -> Result<(), StoreError> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let (ended, dropped) = write_batch(connection, batch)
            .map_err(|cause| StoreError::File { path: self.path(), cause })?;
        if dropped > 0 {
            self.shared.health.send_modify(|health| health.dropped += dropped);
        }
        self.write_pgn(&ended);
        Ok(())
    }

    /// Writes games that have ended as PGN. What fails is in the file all the same, so that it can be
    /// exported later.
    fn write_pgn(&mut self, ended: &[&GameRecord]) {
        let Some(folder) = &self.options.pgn else { return };
        for record in ended {
            let result = self.add_to(folder, &record.key);
            if let Err(error) = &result
                && !self.is_pgn_failing
            {
                warn!(
                    error,
                    "a game is not written as PGN; `meitner games export` can do it later"
                );
            }
            self.is_pgn_failing = result.is_err();
        }
    }

    /// The file may know more of a game than what was just written: after a restart what we thought
    /// of the moves before.
    fn add_to(&self, folder: &PgnFolder, key: &GameKey) -> Result<(), String> {
        let add = || -> Result<(), Box<dyn std::error::Error>> {
            let Some(archive) = Archive::open(&self.folder)? else { return Ok(()) };
            if let Some(listed) = archive.game(key)? {
                folder.add(&archive.with_moves(listed)?)?;
            }
            Ok(())
        };
        add().map_err(|error| error.to_string())
    }

    /// Copies what SQLite keeps beside the file into it, as far as no reader needs it there: whoever
    /// waits for everything may copy the file next.
    fn complete_file(&self) {
        if let Some(connection) = &self.connection {
            let done = connection.query_row("PRAGMA wal_checkpoint(passive)", (), |_| Ok(()));
            if let Err(error) = done {
                debug!(%error, "what is kept beside the file stays there for now");
            }
        }
    }

    fn succeed(&self) {
        let was_failing = self.shared.health.borrow().is_failing();
        if was_failing {
            info!(path = %self.path().display(), "what is to be remembered is written again");
        }
        self.shared.set(Condition::Good);
        self.shared.lock().is_dropping = false;
    }

    /// Tells once that it fails, and whether trying again makes sense.
    fn fail(&mut self, error: &StoreError) -> bool {
        let is_new = !self.shared.health.borrow().is_failing();
        if let StoreError::Newer { .. } = error {
            warn!(%error, "nothing is remembered; the bot plays on without");
            self.shared.give_up(error.to_string());
            return false;
        }
        self.shared.set(Condition::Failing(error.to_string()));
        if is_new {
            let retry_s = self.options.retry.as_secs();
            warn!(
                %error, retry_s,
                "cannot write what is to be remembered; the bot plays on, and tries again"
            );
        }
        if error.is_broken() && !self.has_set_aside {
            self.set_aside(error);
        }
        // Opened anew, whatever has become of the file.
        self.connection = None;
        true
    }
}

/// Writes everything or nothing, but for what can never be written. Returns the games that have ended
/// with this, and how much was dropped.
fn write_batch<'a>(
    connection: &mut Connection,
    batch: &'a Pending,
) -> rusqlite::Result<(Vec<&'a GameRecord>, u64)> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (mut ended, mut dropped) = (Vec::new(), 0);
    for record in &batch.games {
        match write_one(&mut transaction, |connection| write::game(connection, record))? {
            Some(has_ended) => ended.extend(has_ended.then_some(record)),
            None => dropped += 1,
        }
    }
    for note in &batch.notes {
        let written = write_one(&mut transaction, |connection| match note {
            Note::Challenge(record) => write::challenge(connection, record),
            Note::Answer(record) => write::answer(connection, record),
            Note::RatingDiff(key, diff) => write::rating_diff(connection, key, *diff),
            Note::Missed(record) => write::missed(connection, record),
        })?;
        dropped += u64::from(written.is_none());
    }
    for (key, state) in &batch.states {
        let put = |connection: &Connection| write::state(connection, key, state);
        dropped += u64::from(write_one(&mut transaction, put)?.is_none());
    }
    transaction.commit()?;
    Ok((ended, dropped))
}

/// Writes one thing whole, or nothing of it and `None` if that would fail for ever: it must not hold
/// everything else up.
fn write_one<T>(
    transaction: &mut Transaction<'_>,
    put: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let savepoint = transaction.savepoint()?;
    match put(&savepoint) {
        Ok(value) => savepoint.commit().map(|()| Some(value)),
        Err(error) if is_outside(&error) => Err(error),
        Err(error) => {
            error!(%error, "what was to be remembered cannot be written, and is dropped");
            savepoint.finish().map(|()| None)
        }
    }
}

/// Whether the disk or another process is to blame, so that it may work later.
fn is_outside(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    error::is_broken(error)
        || matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::PermissionDenied
                    | ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::OutOfMemory
                    | ErrorCode::ReadOnly
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::NotFound
                    | ErrorCode::DiskFull
                    | ErrorCode::CannotOpen
                    | ErrorCode::FileLockingProtocolFailed
                    | ErrorCode::SchemaChanged
            )
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_is_told_of() {
        let store = Store::new(Condition::Good);
        let writer = Writer {
            folder: PathBuf::new(),
            options: StoreOptions::default(),
            connection: None,
            shared: Arc::clone(&store.shared),
            is_loaded: false,
            has_set_aside: false,
            is_pgn_failing: false,
        };
        let thread = thread::spawn(move || {
            let _writer = writer;
            panic!("as if a bug were found");
        });
        assert!(thread.join().is_err());
        assert!(store.health().borrow().is_failing());
    }
}
