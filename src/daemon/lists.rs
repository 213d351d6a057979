//! Lists of accounts at addresses on the web: read now and then, beside everything else. A list that
//! cannot be read stays as it was, also over a restart: the last that was read is kept in a file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, sleep_until},
};
use tracing::{debug, info, warn};

use crate::{
    daemon::policy::{Names, ParseNamesError, PolicyOptions},
    metrics::Metrics,
    platform::list::{self, FetchError},
};

/// The most names that a list may have.
const MOST_NAMES: usize = 20_000;
/// How soon a list that could not be read is tried again, at the latest.
const RETRY: Duration = Duration::from_mins(5);
/// The folder of the files, in that of what is remembered.
const FOLDER: &str = "lists";
/// No name of a file may be much longer.
const LONGEST_FILE_NAME: usize = 150;
/// The kind of warning about lists.
const WARNING: &str = "lists";

/// Which lists there are, and how often they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// Addresses of lists for [`PolicyOptions::block`].
    pub block: Vec<String>,
    /// The same for [`PolicyOptions::always`].
    pub always: Vec<String>,
    /// The same for [`PolicyOptions::only`]. As long as no name of them is known, nobody is on it.
    pub only: Vec<String>,
    /// How long a list is good.
    pub reread: Duration,
}

impl Default for ListOptions {
    fn default() -> Self {
        let none = Vec::new;
        Self { block: none(), always: none(), only: none(), reread: Duration::from_hours(1) }
    }
}

impl ListOptions {
    /// Each address once.
    pub fn addresses(&self) -> BTreeSet<&str> {
        [&self.block, &self.always, &self.only].into_iter().flatten().map(String::as_str).collect()
    }
}

/// Why a list cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// It could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// What came is no list of names.
    #[error(transparent)]
    Names(#[from] ParseNamesError),
    /// It has so many names.
    #[error("it has {0} names, and {MOST_NAMES} are the most that are taken")]
    TooMany(usize),
}

/// Reads a list.
///
/// # Errors
///
/// [`ListError`] if it cannot be fetched, or is not a name a line.
pub async fn read(address: &str) -> Result<Names, ListError> {
    let text = list::fetch(address).await?;
    // Not where games wait for their turn.
    let names = spawn_blocking(move || Names::parse(&text)).await;
    let names = names.map_err(|error| FetchError::Unreachable(error.to_string()))??;
    Some(&names)
        .filter(|names| names.len() <= MOST_NAMES)
        .cloned()
        .ok_or(ListError::TooMany(names.len()))
}

/// What is known of the lists.
#[derive(Debug)]
pub struct NameLists {
    /// Where they are kept, if anywhere.
    folder: Option<PathBuf>,
    known: BTreeMap<String, Names>,
    /// Those that could not be read the last time.
    failing: BTreeSet<String>,
    metrics: Metrics,
}

impl NameLists {
    /// What an earlier run has kept in this folder of the lists that a policy names. Files are read
    /// here and now.
    pub fn kept(folder: Option<&Path>, policy: &PolicyOptions, metrics: &Metrics) -> Self {
        let folder = folder.map(|folder| folder.join(FOLDER));
        let kept = |address: &str| {
            let names = read_file(folder.as_deref()?, address)?;
            Some((address.to_owned(), names))
        };
        let known = policy.lists.addresses().into_iter().filter_map(kept).collect();
        Self { folder, known, failing: BTreeSet::new(), metrics: metrics.clone() }
    }

    /// A policy with the names that its lists have, as far as they are known.
    pub fn complete(&self, policy: &PolicyOptions) -> PolicyOptions {
        let mut complete = policy.clone();
        let ListOptions { block, always, only, .. } = &policy.lists;
        if !only.is_empty() {
            // An empty list would let everybody in.
            complete.only.extend(Names::nobody());
        }
        for (addresses, names) in [
            (block, &mut complete.block),
            (always, &mut complete.always),
            (only, &mut complete.only),
        ] {
            for known in addresses.iter().filter_map(|address| self.known.get(address)) {
                names.extend(known.clone());
            }
        }
        complete
    }

    /// Reads the lists of the policy that is wanted now and then, and at once when that is set anew, and
    /// tells the complete one. Runs for as long as it is awaited.
    pub async fn follow(
        mut self,
        mut wanted: watch::Receiver<Arc<PolicyOptions>>,
        complete: watch::Sender<Arc<PolicyOptions>>,
    ) {
        let (mut policy, mut due) = (Arc::clone(&wanted.borrow_and_update()), Instant::now());
        loop {
            self.publish(&policy, &complete);
            let addresses = policy.lists.addresses();
            let reading = async {
                if addresses.is_empty() {
                    std::future::pending::<()>().await;
                }
                sleep_until(due).await;
                let read = |address| async move { (address, read(address).await) };
                join_all(addresses.iter().copied().map(read)).await
            };
            tokio::select! {
                changed = wanted.changed() => match changed {
                    Ok(()) => {
                        // Marked as seen here alone, so that none is passed over.
                        policy = Arc::clone(&wanted.borrow_and_update());
                        due = Instant::now();
                    }
                    // Nothing will be wanted any more.
                    Err(_) => std::future::pending().await,
                },
                results = reading => {
                    let news: Vec<_> = results
                        .into_iter()
                        .filter_map(|(address, result)| self.learn(address, result))
                        .collect();
                    // Before it is told: whoever reads that a list is read may rely on it.
                    self.publish(&policy, &complete);
                    for (address, names) in news {
                        info!(list = shown(&address), names = names.len(), "a list of names is read");
                        self.keep(address, names).await;
                    }
                    self.warn(&policy.lists);
                    // Not in step with other bots that were started in the same moment.
                    let reread = policy.lists.reread.mul_f64(0.9 + 0.2 * fastrand::f64());
                    let wait = if self.failing.is_empty() { reread } else { RETRY.min(reread) };
                    due = Instant::now() + wait;
                }
            }
        }
    }

    fn publish(&self, policy: &PolicyOptions, complete: &watch::Sender<Arc<PolicyOptions>>) {
        let new = self.complete(policy);
        complete.send_if_modified(|old| {
            let is_new = **old != new;
            if is_new {
                *old = Arc::new(new);
            }
            is_new
        });
    }

    /// A list was read, or could not be. Returns what is new of it.
    fn learn(
        &mut self,
        address: &str,
        result: Result<Names, ListError>,
    ) -> Option<(String, Names)> {
        match result {
            Ok(names) => {
                self.failing.remove(address);
                if self.known.get(address) == Some(&names) {
                    debug!(list = shown(address), "a list of names is as it was");
                    return None;
                }
                self.known.insert(address.to_owned(), names.clone());
                Some((address.to_owned(), names))
            }
            Err(error) => {
                let known = self.known.get(address).map_or(0, Names::len);
                // Told once: it is tried again and again.
                if self.failing.insert(address.to_owned()) {
                    warn!(list = shown(address), %error, known, "cannot read a list of names, what is known of it stays");
                } else {
                    debug!(list = shown(address), %error, known, "cannot read a list of names");
                }
                None
            }
        }
    }

    /// Keeps a list for the next run.
    async fn keep(&self, address: String, names: Names) {
        let Some(folder) = self.folder.clone() else { return };
        let written = spawn_blocking(move || write_file(&folder, &address, &names)).await;
        let error = match written {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        warn!(error, "a list of names cannot be kept for the next run");
    }

    /// Lets the figures and the health tell which lists cannot be read.
    fn warn(&mut self, options: &ListOptions) {
        let addresses = options.addresses();
        self.failing.retain(|address| addresses.contains(address.as_str()));
        let failing: Vec<&str> = self.failing.iter().map(|address| shown(address)).collect();
        let sentence = format!("lists of names cannot be read: {}", failing.join(", "));
        self.metrics.warn(WARNING, Some(sentence.as_str()).filter(|_| !failing.is_empty()));
    }
}

/// An address without what may be secret in it.
pub fn shown(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or_default()
}

/// The file of a list. Two lists that share one are told apart by its first line.
fn file_of(folder: &Path, address: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let name: String = address.chars().map(plain).take(LONGEST_FILE_NAME).collect();
    folder.join(name + ".txt")
}

fn first_line(address: &str) -> String {
    format!("# {address}")
}

fn read_file(folder: &Path, address: &str) -> Option<Names> {
    let text = fs::read_to_string(file_of(folder, address)).ok()?;
    (text.lines().next() == Some(&*first_line(address))).then_some(())?;
    Names::parse(&text).ok()
}

/// Writes a list beside the old one, which is then replaced, so that there always is a whole one.
fn write_file(folder: &Path, address: &str, names: &Names) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let mut text = first_line(address) + "\n";
    for name in names.iter() {
        text.push_str(name);
        text.push('\n');
    }
    file.write_all(text.as_bytes())?;
    file.persist(file_of(folder, address))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "https://example.com/lists/bores?token=secret";

    fn names(names: &[&str]) -> Names {
        names.iter().collect()
    }

    fn blocking() -> PolicyOptions {
        let lists = ListOptions { block: vec![ADDRESS.to_owned()], ..ListOptions::default() };
        PolicyOptions { lists, block: names(&["own"]), ..PolicyOptions::default() }
    }

    fn knowing(address: &str, known: &[&str]) -> NameLists {
        let mut lists = NameLists::kept(None, &PolicyOptions::default(), &Metrics::new());
        lists.known.insert(address.to_owned(), names(known));
        lists
    }

    #[test]
    fn lists_are_added_to_what_the_settings_name() {
        let policy = knowing(ADDRESS, &["bore"]).complete(&blocking());
        assert_eq!(policy.block, names(&["own", "bore"]));
        assert!(policy.only.is_empty() && policy.always.is_empty());
        assert_eq!(
            knowing("https://other", &["bore"]).complete(&blocking()).block,
            names(&["own"])
        );
    }

    #[test]
    fn nobody_is_let_in_by_a_list_that_is_not_known() {
        let lists = ListOptions { only: vec![ADDRESS.to_owned()], ..ListOptions::default() };
        let policy = PolicyOptions { lists, ..PolicyOptions::default() };
        let unknown = knowing("https://other", &["friend"]).complete(&policy);
        assert!(!unknown.only.is_empty() && !unknown.only.contains("friend"));
        let known = knowing(ADDRESS, &["friend"]).complete(&policy);
        assert!(known.only.contains("friend") && !known.only.contains("bore"));
    }

    #[tokio::test]
    async fn what_was_read_is_kept_over_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let start = || NameLists::kept(Some(folder.path()), &blocking(), &Metrics::new());
        let mut lists = start();
        assert_eq!(lists.complete(&blocking()).block, names(&["own"]));
        let (address, news) = lists.learn(ADDRESS, Ok(names(&["bore", "rude"]))).unwrap();
        lists.keep(address, news).await;
        assert_eq!(start().complete(&blocking()).block, names(&["own", "bore", "rude"]));
        assert_eq!(lists.learn(ADDRESS, Ok(names(&["bore", "rude"]))), None, "that is no news");
        assert_eq!(lists.learn(ADDRESS, Err(ListError::TooMany(30_000))), None);
        assert!(lists.failing.contains(ADDRESS));
        assert_eq!(start().complete(&blocking()).block, names(&["own", "bore", "rude"]));
        let (address, news) = lists.learn(ADDRESS, Ok(names(&[]))).unwrap();
        lists.keep(address, news).await;
        assert!(lists.failing.is_empty());
        assert_eq!(start().complete(&blocking()).block, names(&["own"]), "that is known, too");
    }

    #[test]
    fn a_file_of_another_list_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        write_file(folder.path(), "https://a/b", &names(&["bore"])).unwrap();
        assert_eq!(file_of(folder.path(), "https://a/b"), file_of(folder.path(), "https://a_b"));
        assert_eq!(read_file(folder.path(), "https://a/b"), Some(names(&["bore"])));
        assert_eq!(read_file(folder.path(), "https://a_b"), None);
    }

    #[test]
    fn what_may_be_secret_of_an_address_is_not_told() {
        assert_eq!(shown(ADDRESS), "https://example.com/lists/bores");
    }
}
