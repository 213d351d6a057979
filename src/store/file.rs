//! The file of a [`State`]: one for each account, written whole.
//!
//! A new text goes to a file beside it first, is flushed to the disk, and takes the old one's place
//! in one step, so that a power failure leaves either the old or the new. Blocking.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use crate::store::State;

/// A file that is longer is none of ours.
const MAX_BYTES: u64 = 1 << 20;

/// Where the state of one account is kept.
#[derive(Clone, Debug)]
pub struct StateFile {
    path: PathBuf,
}

/// Why a state could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StateTrouble {
    /// The system does not let us.
    #[error("{}: cannot be read: {cause}; what was remembered is not known", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The file holds no state, or that of another version.
    #[error("{}: is no state of this program ({cause}); it is set aside as {}", path.display(), aside.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
        /// Where it is now.
        aside: PathBuf,
    },
}

impl StateFile {
    /// The file of an account, by its id in lower case, and what it holds: nothing if it does not
    /// exist yet, or cannot be used, which is told. A broken one is set aside.
    pub fn open(folder: &Path, account: &str) -> (Self, State, Option<StateTrouble>) {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let account: String = account.chars().map(plain).collect();
        let file = Self { path: folder.join(format!("state-{account}.json")) };
        let (state, trouble) = match file.read() {
            Ok(state) => (state, None),
            Err(trouble) => (State::default(), Some(trouble)),
        };
        (file, state, trouble)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a state in the place of the one before.
    ///
    /// # Errors
    ///
    /// What the system says. The old state stays.
    pub fn write(&self, state: &State) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let beside = self.path.with_extension("json.new");
        let mut text = serde_json::to_vec_pretty(state)?;
        text.push(b'\n');
        let mut file = File::create(&beside)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }

    fn read(&self) -> Result<State, StateTrouble> {
        let mut text = String::new();
        let result =
            File::open(&self.path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        match result {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::default()),
            // Not text.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(self.set_aside(error.to_string()));
            }
            Err(cause) => return Err(StateTrouble::Unreadable { path: self.path.clone(), cause }),
        }
        match serde_json::from_str::<State>(&text) {
            Ok(state) if state.is_understood() => Ok(state),
            Ok(state) => Err(self.set_aside(format!("version {}", state.version))),
            Err(error) => Err(self.set_aside(error.to_string())),
        }
    }

    fn set_aside(&self, cause: String) -> StateTrouble {
        let aside = self.path.with_extension("json.bad");
        // If that fails as well, the next state takes its place, and the trouble has been told.
        let _ = fs::rename(&self.path, &aside);
        StateTrouble::Broken { path: self.path.clone(), cause, aside }
    }
}
