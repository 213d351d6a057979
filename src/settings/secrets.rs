//! What may be secret in the sources of settings, however wrong they are: for those who must give
//! nothing away.

use std::{collections::BTreeMap, fs, path::Path};

use config::{File, FileFormat, Source as _};
use secrecy::SecretString;

use crate::settings::layers::{PREFIX, USUAL_FILES, flatten};

/// All that may be a token or a password in the sources of a real start, and in the files that are
/// named there, as far as those can be read. Covers more than the settings that come of them: values
/// that a later source overrides, misspelt keys, and files with errors.
pub fn possible_secrets(file: Option<&Path>, flags: &[String]) -> Vec<SecretString> {
    let files = file.map_or_else(|| USUAL_FILES.map(Path::new).to_vec(), |file| vec![file]);
    let texts = files.iter().filter_map(|path| read(path));
    let variables = std::env::vars_os()
        .map(|(name, value)| [name, value].map(|text| text.to_string_lossy().into_owned()))
        .filter(|[name, _]| name.starts_with(PREFIX));
    let mut named: Vec<[String; 2]> = variables.collect();
    named.extend(flags.iter().filter_map(|flag| flag.split_once('=')).map(owned));
    named.extend(texts.flat_map(|text| values(&text)));
    named.iter().flat_map(|[name, value]| secrets(name, value)).map(Into::into).collect()
}

fn owned((name, value): (&str, &str)) -> [String; 2] {
    [name, value].map(str::to_owned)
}

fn read(path: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

/// What is secret in a value of this name, or in the file that it names.
fn secrets(name: &str, value: &str) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    if !name.contains("token") && !name.contains("password") {
        return Vec::new();
    }
    let is_file = name.ends_with("file");
    let text = if is_file { read(Path::new(value)).unwrap_or_default() } else { value.to_owned() };
    let forms = [text.trim_end_matches(['\r', '\n']), text.trim()];
    forms.into_iter().filter(|form| !form.is_empty()).map(str::to_owned).collect()
}

/// The values of a file of settings: as TOML has them if it is TOML, and as they stand there.
fn values(text: &str) -> Vec<[String; 2]> {
    let mut parsed = BTreeMap::new();
    if let Ok(table) = File::from_str(text, FileFormat::Toml).collect() {
        flatten("", table, &mut parsed);
    }
    let mut values: Vec<_> = parsed
        .into_iter()
        .filter_map(|(name, value)| Some([name, value.into_string().ok()?]))
        .collect();
    for line in text.lines() {
        for (at, _) in line.match_indices('=') {
            let name = line[..at].trim_end_matches([' ', '\t', '"', '\'']);
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = name.rsplit(|c| !is_part(c)).next().unwrap_or_default();
            let value = line[at + 1..].trim();
            let quoted = ['"', '\''].into_iter().find_map(|quote| {
                let rest = value.strip_prefix(quote)?;
                Some(rest.split_once(quote).map_or(rest, |(quoted, _)| quoted))
            });
            values.push(owned((name, quoted.unwrap_or(value))));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn secrets_of_wrong_settings_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let password = folder.path().join("password");
        fs::write(&password, "open sesame\n").unwrap();
        let path = folder.path().join("my.toml");
        let text = format!(
            "[lichess]\ntokne = 1\ntoken = \"lip_one\"\nfics = {{ password_file = '{}' }}\n\
             tournament.password = \"no end\n",
            password.display()
        );
        let escaped = "fics.password = \"a\\\"b\"\n".to_owned();
        for (text, expected) in
            [(text, &["lip_one", "open sesame", "no end", "by flag"][..]), (escaped, &["a\"b"][..])]
        {
            fs::write(&path, text).unwrap();
            let found = possible_secrets(Some(&path), &["lichess.token=by flag".to_owned()]);
            let found: Vec<_> = found.iter().map(SecretString::expose_secret).collect();
            for secret in expected {
                assert!(found.contains(secret), "{secret}: {found:?}");
            }
        }
    }
}
