//! The state files of earlier versions, one in JSON for each account on lichess: each is taken into
//! the file of the store once, and then renamed.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use tracing::{info, warn};

use crate::store::{AccountKey, Platform, State, write};

/// A file that is longer is none of ours.
const MAX_BYTES: u64 = 1 << 20;

/// Why a state file is not taken in.
enum Unusable {
    /// It cannot be read now; what is in it may be fine.
    File(io::Error),
    /// It holds no state.
    Text(String),
}

/// Takes in the state files of this folder. One that cannot be read is left where it is, one that holds
/// no state gets another name, and either is told of. What is in the store already wins.
pub(super) fn import_states(folder: &Path, connection: &Connection) -> rusqlite::Result<()> {
    // A folder that cannot be listed holds nothing for us.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Some(account) = account_of(&path) else { continue };
        match read(&path) {
            Ok(state) => {
                let key = AccountKey { platform: Platform::Lichess, account };
                write::add_state(connection, &key, &state)?;
                info!(path = %path.display(), "took over what an earlier version has remembered");
                rename(&path, "json.imported");
            }
            Err(Unusable::File(error)) => {
                warn!(path = %path.display(), %error, "cannot be read, and is tried again later");
            }
            Err(Unusable::Text(error)) => {
                warn!(path = %path.display(), error, "is no state of this program, put aside");
                rename(&path, "json.bad");
            }
        }
    }
    Ok(())
}

fn rename(path: &Path, extension: &str) {
    if let Err(error) = fs::rename(path, path.with_extension(extension)) {
        warn!(path = %path.display(), %error, "cannot be renamed");
    }
}

/// The account of `state-emberfork.json`.
fn account_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    Some(name.strip_prefix("state-")?.strip_suffix(".json")?.to_owned())
}

fn read(path: &PathBuf) -> Result<State, Unusable> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(Unusable::File)?;
    let text = String::from_utf8(bytes).map_err(|error| Unusable::Text(error.to_string()))?;
    State::parse(&text).map_err(Unusable::Text)
}
