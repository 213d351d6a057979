//! The files that `configure` writes: settings with their comments, and secrets that only their owner
//! can read.

use std::{
    fmt::Write as _,
    fs::{File, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};

use crate::settings::{self, Settings, ShownValue, Source};

const HEAD: &str = "\
# Settings of Meitner, written by `meitner configure`. Every other key is at its default:
# docs/SETTINGS.md lists them all, and `meitner config show` prints what comes of it.
";
/// Comments are broken before this column.
const WIDTH: usize = 100;

/// The settings that a file or a flag has set, each with its comment. What variables set stays with
/// them, and secrets have files of their own.
pub(super) fn text(settings: &Settings) -> String {
    let (mut text, mut section) = (HEAD.to_owned(), "");
    // Writing to a String cannot fail.
    for (key, shown) in settings.shown() {
        let ShownValue::Toml(value) = &shown.value else { continue };
        if !matches!(shown.source, Source::File(_) | Source::Flag) {
            continue;
        }
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        text.push('\n');
        if table != section {
            let _ = writeln!(text, "[{table}]");
            section = table;
        }
        let comment = as_comment(&settings::comment(key).unwrap_or_default());
        let _ = writeln!(text, "{comment}{name} = {value}");
    }
    text
}

fn as_comment(text: &str) -> String {
    let (mut comment, mut line) = (String::new(), "#".to_owned());
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            comment += &(std::mem::replace(&mut line, "#".to_owned()) + "\n");
        }
        line = format!("{line} {word}");
    }
    if line.len() > 1 { comment + &line + "\n" } else { comment }
}

/// A file beside another one: `meitner.toml` has `meitner.token`.
pub(super) fn beside(path: &Path, extension: &str) -> anyhow::Result<PathBuf> {
    let path = path.with_extension(extension);
    std::path::absolute(&path).with_context(|| format!("{} is no path", path.display()))
}

/// Writes a secret so that only the owner of the file can read it.
pub(super) fn write_secret(path: &Path, secret: &SecretString) -> anyhow::Result<()> {
    write(path, &format!("{}\n", secret.expose_secret()), 0o600)
}

/// Writes settings, which hold no secret: a service may read them as another user.
pub(super) fn write_settings(path: &Path, text: &str) -> anyhow::Result<()> {
    write(path, text, 0o644)
}

/// Keeps a copy of a file, if there is one, under the first free name of `.old`, `.old-2` and so on.
/// The file itself stays until it is replaced.
pub(super) fn keep_old(path: &Path) -> anyhow::Result<()> {
    let kept = || -> io::Result<()> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        // Nobody else can read the copy before it has the mode of the original.
        let mut copy = tempfile::NamedTempFile::new_in(folder(path))?;
        io::copy(&mut file, &mut copy)?;
        copy.as_file().set_permissions(file.metadata()?.permissions())?;
        copy.as_file().sync_all()?;
        for number in 1.. {
            let mut old = path.as_os_str().to_owned();
            old.push(if number == 1 { ".old".to_owned() } else { format!(".old-{number}") });
            match copy.persist_noclobber(&old) {
                Ok(_) => break,
                Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                    copy = failed.file;
                }
                Err(failed) => return Err(failed.error),
            }
        }
        Ok(())
    };
    kept().with_context(|| format!("cannot keep a copy of {}", path.display()))
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes a file whole or not at all, with this mode as far as the user's mask lets it.
fn write(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let written = || -> io::Result<()> {
        let folder = folder(path);
        std::fs::create_dir_all(folder)?;
        let permissions = Permissions::from_mode(mode);
        let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Sources;

    #[test]
    fn every_old_file_is_kept_and_the_file_stays_until_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("meitner.token");
        keep_old(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "there was none");
        for text in ["one", "two", "three"] {
            write_secret(&path, &text.into()).unwrap();
            keep_old(&path).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{text}\n"));
        }
        for (ending, text) in [("old", "one\n"), ("old-2", "two\n"), ("old-3", "three\n")] {
            let old = folder.path().join(format!("meitner.token.{ending}"));
            assert_eq!(std::fs::read_to_string(&old).unwrap(), text);
            let mode = std::fs::metadata(&old).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "only its owner reads a secret");
        }
    }

    #[test]
    fn what_is_set_stands_there_with_its_comment() {
        let flags = ["challenge.concurrency=3", "challenge.block=a,b", "log.level=debug"];
        let sources = Sources {
            flags: flags.iter().map(ToString::to_string).collect(),
            environment: [("MEITNER_SEARCH__HASH_MB".to_owned(), "32".to_owned())].into(),
            ..Sources::default()
        };
        let text = text(&Settings::load(&sources).unwrap());
        for part in [
            "\n\n[challenge]\n# Games at once; each has its own engine",
            "\nconcurrency = 3\n\n# Accounts that are declined, in any case of letters.\nblock = ",
            "block = [\"a\", \"b\"]\n\n[log]\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("hash_mb"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/my.toml");
        write_settings(&file, &text).unwrap();
        let again = Settings::load(&Sources { file: Some(file), ..Sources::default() }).unwrap();
        assert_eq!(again.daemon.concurrency, 3);
    }
}
