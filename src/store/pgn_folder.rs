//! Writes each game that ends as PGN into a folder.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::PathBuf,
};

use crate::{
    pgn::UtcTime,
    store::{GameRecord, ReplayError},
};

/// A folder for games as PGN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnFolder {
    /// Where it is. It is made when it is needed.
    pub folder: PathBuf,
    /// Which games share a file.
    pub group: PgnGroup,
}

/// Which games share a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PgnGroup {
    /// None: each has its own.
    Game,
    /// Those against the same opponent.
    Opponent,
    /// Those that began on the same day, in UTC.
    #[default]
    Day,
}

/// Why a game was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum PgnError {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("{}: cannot be written: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
}

impl PgnFolder {
    /// Adds a game to its file. One without moves is left out.
    pub(super) fn add(&self, record: &GameRecord) -> Result<(), PgnError> {
        if record.moves.is_empty() {
            return Ok(());
        }
        let text = record.to_pgn()?.to_string();
        let path = self.folder.join(self.file_name(record));
        let write = || {
            fs::create_dir_all(&self.folder)?;
            let mut file = match self.group {
                PgnGroup::Game => File::create(&path)?,
                PgnGroup::Opponent | PgnGroup::Day => {
                    OpenOptions::new().create(true).read(true).append(true).open(&path)?
                }
            };
            // In one piece: another bot may add to the same file.
            let text = separator(&mut file)?.to_owned() + &text;
            all_or_nothing(&mut file, |file| file.write_all(text.as_bytes()))
        };
        write().map_err(|cause| PgnError::File { path: path.clone(), cause })
    }

    fn file_name(&self, record: &GameRecord) -> String {
        let platform = record.key.account.platform;
        match self.group {
            PgnGroup::Game => format!("{platform}-{}.pgn", record.key.id),
            PgnGroup::Opponent => {
                let opponent = record.opponent();
                let name = opponent.id.as_ref().unwrap_or(&opponent.name);
                format!("{platform}-{}.pgn", file_name_of(name))
            }
            PgnGroup::Day => {
                let began_at = record.started_at.secs().saturating_mul(1_000);
                let day = UtcTime::from_epoch_ms(began_at).date().replace('.', "-");
                format!("{day}.pgn")
            }
        }
    }
}

/// What must come before a game: a program that was killed may have left half of one.
fn separator(file: &mut File) -> io::Result<&'static str> {
    if file.metadata()?.len() == 0 {
        return Ok("");
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(if last == *b"\n" { "" } else { "\n\n" })
}

/// Adds to a file. If that fails half-way, as on a full disk, what was added is taken away again.
fn all_or_nothing(
    file: &mut File,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let before = file.metadata()?.len();
    let result = write(file);
    if result.is_err() {
        // What failed first says more.
        let _ = file.set_len(before);
    }
    result
}

/// A name that others have chosen, as part of a file's.
fn file_name_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(64).map(plain).collect::<String>().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_game_is_taken_away_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day.pgn");
        fs::write(&path, "whole\n").unwrap();
        let mut file = OpenOptions::new().read(true).append(true).open(&path).unwrap();
        let full = |file: &mut File| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        let error = all_or_nothing(&mut file, full).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\n");
        all_or_nothing(&mut file, |file| file.write_all(b"next")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\nnext");
        assert_eq!(separator(&mut file).unwrap(), "\n\n");
    }

    #[test]
    fn names_of_others_lead_to_no_other_folder() {
        for (name, expected) in [
            ("Soot-Engine", "soot-engine"),
            ("../../etc/passwd", "______etc_passwd"),
            ("ä\0", "__"),
        ] {
            assert_eq!(file_name_of(name), expected);
        }
    }
}
