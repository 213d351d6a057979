//! Writes each game that ends as PGN into a folder.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom},
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
            let text = separator(&mut file)?.to_owned() + &text;
            append(&mut file, &text)
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

/// What must come before a game: a full disk, or a program that was killed, may have left half of
/// one.
fn separator(file: &mut File) -> io::Result<&'static str> {
    if file.metadata()?.len() == 0 {
        return Ok("");
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(if last == *b"\n" { "" } else { "\n\n" })
}

/// Adds to a file in one call: the system puts it at the end in one piece, whoever else adds to the
/// file, so that nothing has to be taken away again. A full disk may leave the beginning of it there.
fn append(file: &mut impl io::Write, text: &str) -> io::Result<()> {
    loop {
        match file.write(text.as_bytes()) {
            Ok(count) if count == text.len() => return Ok(()),
            Ok(_) => return Err(io::ErrorKind::StorageFull.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A name that others have chosen, as part of a file's.
fn file_name_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(64).map(plain).collect::<String>().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Where four bytes fit.
    struct Small(File);

    impl io::Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(&bytes[..bytes.len().min(4)])
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    fn opened(path: &Path) -> File {
        OpenOptions::new().create(true).read(true).append(true).open(path).unwrap()
    }

    #[test]
    fn half_a_game_is_told_and_the_next_keeps_clear_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day.pgn");
        fs::write(&path, "whole\n").unwrap();
        let error = append(&mut Small(opened(&path)), "half of it").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        // Another program adds to it meanwhile, and loses nothing.
        append(&mut opened(&path), " other\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\nhalf other\n");
        append(&mut Small(opened(&path)), "half of it").unwrap_err();
        assert_eq!(separator(&mut opened(&path)).unwrap(), "\n\n");
    }

    #[test]
    fn what_several_add_at_once_stays_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day.pgn");
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let (path, game) = (&path, name.repeat(10_000) + "\n");
                scope.spawn(move || {
                    for _ in 0..50 {
                        append(&mut opened(path), &game).unwrap();
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 200);
        for line in text.lines() {
            assert!(line == line[..1].repeat(10_000), "a piece of {}", &line[..1]);
        }
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
