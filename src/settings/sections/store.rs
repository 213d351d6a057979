//! `[store]`: where it is kept what is remembered.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{
    settings::schema::{Key, Kind, key},
    store::StoreOptions,
};

pub(super) const KEYS: &[Key] = &[key("store.folder", Kind::Text)];

/// The word for the usual place.
const AUTO: &str = "auto";

#[derive(Deserialize)]
pub(super) struct RawStore {
    folder: String,
}

impl RawStore {
    /// The options; `usual` is the folder where such things go.
    pub(super) fn options(&self, usual: Option<&Path>) -> StoreOptions {
        StoreOptions { folder: self.folder(usual), ..StoreOptions::default() }
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
