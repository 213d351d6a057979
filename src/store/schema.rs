//! The file: its place, its tables, and how one of an earlier version becomes one of this.
//!
//! The format's number is SQLite's `user_version`. Each released format has a file in
//! `tests/data/store` that must open for ever.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::store::{Epoch, StoreError};

/// The name of the file in its folder.
pub(super) const FILE_NAME: &str = "meitner.db";
/// How long another process that writes is waited for.
const BUSY_LIMIT: Duration = Duration::from_secs(2);

/// What makes a file of format `n` one of format `n + 1`: the first makes a new file. What is here
/// has been released and never changes; a change is a new step.
const MIGRATIONS: [&str; 1] = [include_str!("schema/1.sql")];

/// The format of the file that this program writes.
pub const FORMAT: u32 = 1;
const _: () = assert!(MIGRATIONS.len() == FORMAT as usize);

/// The file in this folder.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

/// Opens the file for writing, and makes it first if there is none. `max_pages` limits its size.
pub(super) fn open(folder: &Path, max_pages: Option<u32>) -> Result<Connection, StoreError> {
    fs::create_dir_all(folder)
        .map_err(|cause| StoreError::Folder { path: folder.to_owned(), cause })?;
    let path = file(folder);
    let wrong = |cause| StoreError::File { path: path.clone(), cause };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags).map_err(wrong)?;
    set_up(&connection, max_pages).map_err(wrong)?;
    migrate(&mut connection, &path)?;
    Ok(connection)
}

/// Opens the file for reading; one of an earlier format is brought to this one first.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let wrong = |cause| StoreError::File { path: path.to_owned(), cause };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(wrong)?;
    connection.busy_timeout(BUSY_LIMIT).map_err(wrong)?;
    connection.pragma_update(None, "temp_store", "memory").map_err(wrong)?;
    if check_format(&connection, path)? < FORMAT {
        drop(connection);
        let folder = path.parent().unwrap_or(Path::new("."));
        return open(folder, None);
    }
    Ok(connection)
}

fn set_up(connection: &Connection, max_pages: Option<u32>) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_LIMIT)?;
    // Readers never wait for the writer, and a commit is one append. What was committed outlives the
    // process in any case; a power failure may cost the last commits, never the file.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Nothing else of the disk need be writable.
    connection.pragma_update(None, "temp_store", "memory")?;
    if let Some(pages) = max_pages {
        connection.pragma_update(None, "max_page_count", pages)?;
    }
    Ok(())
}

/// The format of the file, if this program knows it.
fn check_format(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let found = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|cause| StoreError::File { path: path.to_owned(), cause })?;
    if found > FORMAT {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: FORMAT });
    }
    Ok(found)
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if check_format(connection, path)? == FORMAT {
        return Ok(());
    }
    let wrong = |cause| StoreError::File { path: path.to_owned(), cause };
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrong)?;
    // Another process may have done it meanwhile.
    let found = check_format(&transaction, path)?;
    for step in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(step).map_err(wrong)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT).map_err(wrong)?;
    transaction.commit().map_err(wrong)
}

/// Gives a broken file another name, where it stays for whoever wants to look at it, together with
/// what belongs to it. Returns that name.
pub(super) fn set_aside(path: &Path, now: Epoch) -> std::io::Result<PathBuf> {
    let named = |path: &Path, suffix: &str| {
        let mut name = OsString::from(path);
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut at = now;
    let aside = loop {
        let aside = named(path, &format!(".broken-{}", at.secs()));
        if !aside.exists() {
            break aside;
        }
        at = at.after(Duration::from_secs(1));
    };
    fs::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        match fs::rename(named(path, suffix), named(&aside, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}
