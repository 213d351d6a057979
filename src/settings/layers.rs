//! Where settings come from, and how what they say is put together: a later layer wins.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::{Path, PathBuf},
};

use config::{Config, ConfigError, Environment, File, FileFormat, Source as _, Value, ValueKind};

use crate::settings::{
    Shown, ShownValue,
    error::{SettingsError, Source},
    schema::{self, Key},
};

/// The built-in defaults are the shipped file itself, so that what it documents cannot drift.
pub(super) const DEFAULTS: &str = include_str!("../../config/meitner.toml");
/// Where a file is looked for that no flag names; the first is what `configure` writes.
pub const USUAL_FILES: [&str; 2] = ["meitner.toml", "config/meitner.toml"];
/// What the variables begin with.
pub(super) const PREFIX: &str = "MEITNER_";

/// Everything besides the defaults that can say something about settings.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A file that has to exist.
    pub file: Option<PathBuf>,
    /// Variables, of which those that begin with `MEITNER_` count.
    pub environment: HashMap<String, String>,
    /// `KEY=VALUE`, in order.
    pub flags: Vec<String>,
    /// The folder for what programs remember of themselves, where it is known.
    pub state_home: Option<PathBuf>,
    /// The device and the inode of the stream that the journal of systemd reads.
    pub journal: Option<(u64, u64)>,
}

impl Sources {
    /// The sources of a real start: this file or the usual one, the process's environment, and
    /// these flags.
    ///
    /// # Errors
    ///
    /// [`SettingsError::BadValue`] if a variable of ours is not valid text.
    pub fn of_process(file: Option<PathBuf>, flags: Vec<String>) -> Result<Self, SettingsError> {
        let usual = || USUAL_FILES.iter().map(PathBuf::from).find(|path| path.is_file());
        let environment = std::env::vars_os().filter_map(own_variable).collect::<Result<_, _>>()?;
        let file = file.or_else(usual);
        Ok(Self { file, environment, flags, state_home: state_home(), journal: journal() })
    }
}

/// What systemd says of the stream that it has connected to the journal: device and inode.
fn journal() -> Option<(u64, u64)> {
    let stream = std::env::var_os("JOURNAL_STREAM")?;
    let (device, inode) = stream.to_str()?.split_once(':')?;
    Some((device.parse().ok()?, inode.parse().ok()?))
}

/// The folder that systemd has made for us; else one in that of the user, by the XDG base directory
/// specification, which demands that relative paths be ignored.
fn state_home() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("STATE_DIRECTORY").or_else(|| {
        let home = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
        home.map(|home| home.join("meitner"))
    })
}

fn own_variable(
    (name, value): (OsString, OsString),
) -> Option<Result<(String, String), SettingsError>> {
    let name = name.into_string().ok().filter(|name| name.starts_with(PREFIX))?;
    Some(match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(SettingsError::NotText { variable: name }),
    })
}

/// The value of each key and who has set it.
pub(super) struct Merged(BTreeMap<&'static str, (Value, Source)>);

impl Merged {
    /// Reads and checks all layers. A bad value is an error even if a later layer covers it.
    pub(super) fn load(sources: &Sources) -> Result<Self, SettingsError> {
        let mut merged = Self(BTreeMap::new());
        merged.add_file(DEFAULTS, &Source::Defaults, Path::new("the built-in defaults"))?;
        if let Some(path) = &sources.file {
            let text = read(path)?;
            merged.add_file(&text, &Source::File(path.clone()), path)?;
        }
        merged.add_environment(&sources.environment)?;
        for flag in &sources.flags {
            merged.add_flag(flag)?;
        }
        Ok(merged)
    }

    /// Who has set a key.
    pub(super) fn source(&self, key: &str) -> Source {
        self.0.get(key).map_or(Source::Defaults, |(_, source)| source.clone())
    }

    /// All values as they are shown.
    pub(super) fn shown(&self) -> BTreeMap<&'static str, Shown> {
        let is_secret =
            |key| schema::find(key).is_none_or(|key| matches!(key.kind, schema::Kind::Secret));
        let values = self.0.iter().map(|(&key, (value, source))| {
            let value = match &value.kind {
                ValueKind::String(text) if is_secret(key) && text.is_empty() => ShownValue::Unset,
                _ if is_secret(key) => ShownValue::Hidden,
                _ => ShownValue::Toml(toml(value)),
            };
            (key, Shown { value, source: source.clone() })
        });
        values.collect()
    }

    /// All values as one tree.
    pub(super) fn to_config(&self) -> Result<Config, ConfigError> {
        let mut builder = Config::builder();
        for (&key, (value, _)) in &self.0 {
            builder = builder.set_override(key, value.clone())?;
        }
        builder.build()
    }

    fn add_file(&mut self, text: &str, source: &Source, path: &Path) -> Result<(), SettingsError> {
        let table = File::from_str(text, FileFormat::Toml).collect();
        let table = table.map_err(|error| SettingsError::Syntax {
            path: path.to_owned(),
            message: presentable(&error, text),
        })?;
        let mut values = BTreeMap::new();
        flatten("", table, &mut values);
        for (name, value) in values {
            let key = known(&name, source)?;
            self.set(key, source, key.kind.check(value))?;
        }
        Ok(())
    }

    fn add_environment(
        &mut self,
        variables: &HashMap<String, String>,
    ) -> Result<(), SettingsError> {
        let own = variables.iter().filter(|(name, _)| name.starts_with(PREFIX));
        let own = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let environment = Environment::with_prefix(PREFIX.trim_end_matches('_'))
            .prefix_separator("_")
            .separator("__")
            .source(Some(own));
        // Values are text here, and text always collects.
        let values: BTreeMap<_, _> =
            environment.collect().unwrap_or_default().into_iter().collect();
        for (name, value) in values {
            let key = known(&name, &Source::Environment)?;
            let text = value.into_string().unwrap_or_default();
            self.set(key, &Source::Environment, key.kind.parse(&text))?;
        }
        Ok(())
    }

    fn add_flag(&mut self, flag: &str) -> Result<(), SettingsError> {
        let (name, text) = flag.split_once('=').ok_or(SettingsError::BadFlag)?;
        let key = known(name.trim(), &Source::Flag)?;
        match (key.kind, key.name) {
            (schema::Kind::Secret, "lichess.token") => {
                return Err(SettingsError::TokenAsFlag(key.name));
            }
            (schema::Kind::Secret, name) => return Err(SettingsError::SecretAsFlag(name)),
            _ => {}
        }
        self.set(key, &Source::Flag, key.kind.parse(text))
    }

    fn set(
        &mut self,
        key: &'static Key,
        source: &Source,
        value: Result<Value, schema::Mismatch>,
    ) -> Result<(), SettingsError> {
        let value = value.map_err(|schema::Mismatch { found, allowed }| {
            SettingsError::BadValue { source_of: source.clone(), key: key.name, found, allowed }
        })?;
        self.0.insert(key.name, (value, source.clone()));
        Ok(())
    }
}

/// A value as TOML has it.
fn toml(value: &Value) -> String {
    match &value.kind {
        // What JSON escapes in a text, TOML reads alike.
        ValueKind::String(text) => serde_json::Value::from(text.as_str()).to_string(),
        ValueKind::Array(values) => {
            let values: Vec<_> = values.iter().map(toml).collect();
            format!("[{}]", values.join(", "))
        }
        _ => value.to_string(),
    }
}

fn known(name: &str, source: &Source) -> Result<&'static Key, SettingsError> {
    schema::find(name).ok_or_else(|| SettingsError::UnknownKey {
        source_of: source.clone(),
        key: name.to_owned(),
        nearest: schema::nearest(name),
    })
}

/// Reads a file of settings as text.
pub(super) fn read(path: &Path) -> Result<String, SettingsError> {
    std::fs::read_to_string(path).map_err(|error| SettingsError::Unreadable {
        path: path.to_owned(),
        cause: error.to_string(),
    })
}

/// All values of nested tables, each under its dotted name.
pub(super) fn flatten(
    prefix: &str,
    table: impl IntoIterator<Item = (String, Value)>,
    values: &mut BTreeMap<String, Value>,
) {
    for (name, value) in table {
        let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value.kind {
            ValueKind::Table(table) if schema::find(&name).is_none() => {
                flatten(&name, table, values);
            }
            _ => {
                values.insert(name, value);
            }
        }
    }
}

/// An error of the parser as one line. For a syntax error the parser quotes the line, which may hold the token,
/// and its reason may quote words of that line: both stay out.
pub(super) fn presentable(error: &ConfigError, text: &str) -> String {
    let full = error.to_string();
    if !matches!(error, ConfigError::FileParse { .. }) {
        return full;
    }
    let mut lines = full.lines().map(str::trim).filter(|line| !line.is_empty());
    let place = lines.next().unwrap_or_default().trim_start_matches("TOML parse error at ");
    let reason = lines.next_back().unwrap_or("it is not TOML");
    let number = place.split(|c: char| !c.is_ascii_digit()).find_map(|word| word.parse().ok());
    let line = number.and_then(|number: usize| text.lines().nth(number.checked_sub(1)?));
    let value = line.and_then(|line| line.split_once('=')).map_or("", |(_, value)| value);
    let mut words = value.split(|c: char| !c.is_alphanumeric() && c != '_');
    let quotes = words.any(|word| word.len() > 3 && reason.contains(word));
    if quotes || number.is_none() {
        return format!("{} is not TOML", line.map_or("it", |_| place));
    }
    format!("{place} is not TOML: {reason}")
}
