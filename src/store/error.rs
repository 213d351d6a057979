//! Why the file of what is remembered cannot be used: one sentence each.

use std::{io, path::PathBuf};

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be made.
    #[error("{}: cannot be made ({cause}); choose another `store.folder`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The file cannot be opened, read or written.
    #[error("{}: cannot be used ({cause})", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        cause: rusqlite::Error,
    },
    /// The file was written by a newer version of this program.
    #[error(
        "{}: was written by a newer version of Meitner (format {found}, this one knows up to \
         {known}); install that version, or set `store.folder` to another folder", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// The file holds something that this program has not written.
    #[error("{}: game {game} cannot be read: {cause}", path.display())]
    Game {
        /// The file.
        path: PathBuf,
        /// The id of the game.
        game: String,
        /// What is wrong.
        cause: String,
    },
}

impl StoreError {
    /// Whether the file is no file of SQLite's, or a damaged one.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::File { cause, .. } if is_broken(cause))
    }
}

pub(super) fn is_broken(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
    )
}
