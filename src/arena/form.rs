//! Form bodies and query strings (`application/x-www-form-urlencoded`), and JSON in place of a form.

use serde_json::Value;

/// The fields of a form or a query, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Decodes `a=1&b=two+words`. Whatever is not well-formed is taken literally.
    pub(super) fn parse(text: &str) -> Self {
        let fields = text.split('&').filter(|field| !field.is_empty());
        Self(
            fields
                .map(|field| field.split_once('=').unwrap_or((field, "")))
                .map(|(name, value)| (decode(name), decode(value)))
                .collect(),
        )
    }

    /// The fields of a JSON object, as the real server takes them for a form. Anything else has none.
    pub(super) fn from_json(text: &str) -> Self {
        let fields = match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let text = |value: Value| match value {
            Value::String(text) => Some(text),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        Self(fields.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect())
    }

    /// The value of a field; an empty one counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(field, value)| field == name && !value.is_empty())?;
        Some(value)
    }

    /// All fields, empty ones too.
    pub(super) fn fields(&self) -> &[(String, String)] {
        &self.0
    }

    /// All fields, empty ones too.
    pub(super) fn into_fields(self) -> Vec<(String, String)> {
        self.0
    }

    /// Whether a flag is set.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| matches!(value, "true" | "1" | "yes" | "on"))
    }
}

/// Decodes `%41` and `+`.
pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push(high << 4 | low);
                    rest = after;
                }
                _ => bytes.push(b'%'),
            },
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn digit(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_objects_are_taken_for_forms() {
        let form =
            Form::from_json(r#"{"room":"player","clock.limit":180,"rated":true,"fen":null}"#);
        assert_eq!((form.get("room"), form.get("clock.limit")), (Some("player"), Some("180")));
        assert!(form.is_true("rated") && form.get("fen").is_none());
        for text in ["", "[1]", "{", "room=player"] {
            assert!(Form::from_json(text).fields().is_empty(), "{text}");
        }
    }

    #[test]
    fn forms_are_decoded() {
        let form = Form::parse("room=player&text=Good+luck%21&clock.limit=180&empty=&flag=true");
        assert_eq!(form.get("text"), Some("Good luck!"));
        assert_eq!(form.get("clock.limit"), Some("180"));
        assert_eq!(form.get("empty"), None);
        assert!(form.is_true("flag"));
        assert!(!form.is_true("room"));
    }

    #[test]
    fn broken_escapes_are_taken_literally() {
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%C3%A9"), "é");
    }
}
