//! `[store]`: where it is kept what is remembered.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{
    settings::{
        error::{SettingsError, Source},
        schema::{Key, Kind, key},
    },
    store::{PgnFolder, PgnGroup, StoreOptions},
};

pub(super) const KEYS: &[Key] = &[
    key("store.folder", Kind::Text),
    key("store.pgn_folder", Kind::Text),
    key("store.pgn_group", Kind::Word(&["game", "opponent", "day"])),
];

/// The word for the usual place.
const AUTO: &str = "auto";

#[derive(Deserialize)]
pub(super) struct RawStore {
    folder: String,
    pgn_folder: String,
    pgn_group: Group,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Group {
    Game,
    Opponent,
    Day,
}

impl RawStore {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    pub(super) fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        if self.folder.is_empty() && !self.pgn_folder.is_empty() {
            let key = "store.pgn_folder";
            return Err(SettingsError::BadValue {
                source_of: source(key),
                key,
                found: format!("{:?}", self.pgn_folder),
                allowed: "empty if `store.folder` is empty".to_owned(),
            });
        }
        Ok(())
    }

    /// The options; `usual` is the folder where such things go.
    pub(super) fn options(&self, usual: Option<&Path>) -> StoreOptions {
        let folder = self.folder(usual);
        let pgn = folder.as_ref().filter(|_| !self.pgn_folder.is_empty()).map(|folder| PgnFolder {
            folder: folder.join(&self.pgn_folder),
            group: match self.pgn_group {
                Group::Game => PgnGroup::Game,
                Group::Opponent => PgnGroup::Opponent,
                Group::Day => PgnGroup::Day,
            },
        });
        StoreOptions { folder, pgn, ..StoreOptions::default() }
    }

    /// The folder, if anything is to be remembered.
    fn folder(&self, usual: Option<&Path>) -> Option<PathBuf> {
        match self.folder.as_str() {
            "" => None,
            AUTO => usual.map(Path::to_owned),
            path => Some(path.into()),
        }
    }
}
