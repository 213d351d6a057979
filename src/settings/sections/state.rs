//! `[state]`: where it is kept what is remembered across restarts.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::settings::schema::{Key, Kind, key};

pub(super) const KEYS: &[Key] = &[key("state.folder", Kind::Text)];

/// The word for the usual place.
const AUTO: &str = "auto";

#[derive(Deserialize)]
pub(super) struct RawState {
    folder: String,
}

impl RawState {
    /// The folder, if anything is to be remembered.
    pub(super) fn folder(&self, usual: Option<&Path>) -> Option<PathBuf> {
        match self.folder.as_str() {
            "" => None,
            AUTO => usual.map(Path::to_owned),
            path => Some(path.into()),
        }
    }
}
