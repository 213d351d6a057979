//! A description of an API in `OpenAPI` 3.1, and whether a request fits it.

use meitner::arena::Recorded;
use serde_json::{Map, Value, json};

pub(crate) struct Spec {
    root: Value,
}

impl Spec {
    pub(crate) fn new(root: Value) -> Self {
        Self { root }
    }

    /// The operation that a request is for, such as `GET /api/account`.
    ///
    /// # Errors
    /// One sentence about what does not fit.
    pub(crate) fn check(&self, request: &Recorded) -> Result<String, String> {
        let Recorded { method, path, .. } = request;
        let within = |text: String| format!("{method} {path}: {text}");
        let (template, values) =
            self.find(path).ok_or_else(|| within("no such path".to_owned()))?;
        let item = &self.root["paths"][template];
        let operation = item
            .get(method.to_ascii_lowercase())
            .ok_or_else(|| within("no such method".to_owned()))?;
        let parameters = self.parameters(item, operation);
        self.check_path(&parameters, &values).map_err(within)?;
        self.check_query(&parameters, &request.query).map_err(within)?;
        self.check_body(operation, request).map_err(within)?;
        Ok(format!("{method} {template}"))
    }

    /// The path that fits best, and the values of its parameters: one that says a word beats one that
    /// has a parameter there.
    fn find<'a>(&'a self, path: &'a str) -> Option<(&'a str, Vec<(&'a str, &'a str)>)> {
        let paths = self.root["paths"].as_object()?;
        let fitting = paths.keys().filter_map(|template| Some((template, values(template, path)?)));
        fitting
            .min_by_key(|(_, values)| values.len())
            .map(|(template, values)| (template.as_str(), values))
    }

    fn parameters<'a>(&'a self, item: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
        [item, operation]
            .into_iter()
            .filter_map(|holder| holder["parameters"].as_array())
            .flatten()
            .map(|parameter| self.resolve(parameter))
            .collect()
    }

    /// What a reference within the description stands for.
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
            Some(pointer) => self.root.pointer(pointer).expect("references lead somewhere"),
            None => value,
        }
    }

    fn check_path(&self, parameters: &[&Value], values: &[(&str, &str)]) -> Result<(), String> {
        for &(name, value) in values {
            // Some descriptions leave their path parameters out.
            if let Some(parameter) = named(parameters, "path", name) {
                self.check_text(&parameter["schema"], value)
                    .map_err(|error| format!("{{{name}}}={value}: {error}"))?;
            }
        }
        Ok(())
    }

    fn check_query(&self, parameters: &[&Value], query: &[(String, String)]) -> Result<(), String> {
        for (name, value) in query {
            let parameter = named(parameters, "query", name)
                .ok_or_else(|| format!("there is no parameter {name}"))?;
            self.check_text(&parameter["schema"], value)
                .map_err(|error| format!("{name}={value}: {error}"))?;
        }
        let is_given = |name: &Value| query.iter().any(|(given, _)| name == given);
        let missing = parameters.iter().find(|parameter| {
            parameter["in"] == "query"
                && parameter["required"] == true
                && !is_given(&parameter["name"])
        });
        missing.map_or(Ok(()), |parameter| Err(format!("{} is missing", parameter["name"])))
    }

    fn check_body(&self, operation: &Value, request: &Recorded) -> Result<(), String> {
        let content_type = request.content_type.split(';').next().unwrap_or_default().trim();
        let body = self.resolve(&operation["requestBody"]);
        let Some(content) = body["content"].as_object() else {
            let is_empty = content_type.is_empty() && request.form.is_empty();
            return if is_empty { Ok(()) } else { Err("it takes no body".to_owned()) };
        };
        if content_type.is_empty() {
            let is_wanted = body["required"] == true;
            return if is_wanted { Err("there is no body".to_owned()) } else { Ok(()) };
        }
        let media = content
            .get(content_type)
            .ok_or_else(|| format!("content type {content_type} is not among its types"))?;
        if content_type == "application/x-www-form-urlencoded" {
            self.check_form(&media["schema"], &request.form)
        } else {
            Ok(())
        }
    }

    fn check_form(&self, schema: &Value, form: &[(String, String)]) -> Result<(), String> {
        let mut properties = Map::new();
        self.collect_properties(schema, &mut properties);
        let mut object = Map::new();
        for (name, text) in form {
            let property =
                properties.get(name).ok_or_else(|| format!("there is no field {name}"))?;
            let value = readings(text)
                .find(|value| self.validate(property, value).is_ok())
                .unwrap_or_else(|| json!(text));
            object.insert(name.clone(), value);
        }
        self.validate(&loosened(schema), &Value::Object(object))
    }

    /// The fields that a schema names anywhere.
    fn collect_properties(&self, schema: &Value, found: &mut Map<String, Value>) {
        let schema = self.resolve(schema);
        if let Some(properties) = schema["properties"].as_object() {
            found.extend(properties.clone());
        }
        for part in ["allOf", "anyOf", "oneOf"] {
            for part in schema[part].as_array().into_iter().flatten() {
                self.collect_properties(part, found);
            }
        }
    }

    /// A text fits a schema if one of its readings does.
    fn check_text(&self, schema: &Value, text: &str) -> Result<(), String> {
        let mut result = Ok(());
        for value in readings(text) {
            result = self.validate(schema, &value);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    fn validate(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let whole = json!({ "components": self.root["components"], "allOf": [schema] });
        let validator = jsonschema::draft202012::new(&whole).expect("a schema");
        validator.validate(value).map_err(|error| {
            let at = error.instance_path().to_string();
            format!("{}{error}", if at.is_empty() { at } else { format!("{at}: ") })
        })
    }
}

/// What a text can stand for: itself, a number or a truth value.
fn readings(text: &str) -> impl Iterator<Item = Value> {
    let other = serde_json::from_str(text).ok().filter(|value: &Value| !value.is_string());
    [json!(text)].into_iter().chain(other)
}

/// The values of a path's parameters, if it has the form of the template.
fn values<'a>(template: &'a str, path: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let (mut parts, mut words) = (template.split('/'), path.split('/'));
    let mut values = Vec::new();
    loop {
        let (part, word) = match (parts.next(), words.next()) {
            (None, None) => return Some(values),
            (part, word) => (part?, word?),
        };
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) if !word.is_empty() => values.push((name, word)),
            _ if part == word => {}
            _ => return None,
        }
    }
}

fn named<'a>(parameters: &[&'a Value], place: &str, name: &str) -> Option<&'a Value> {
    parameters
        .iter()
        .copied()
        .find(|parameter| parameter["in"] == place && parameter["name"] == name)
}

/// A form with a clock fits both "real-time" and "unlimited", which demands nothing: of alternatives
/// one has to fit, not exactly one.
fn loosened(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let name = if name == "oneOf" { "anyOf" } else { name };
                (name.to_owned(), loosened(value))
            })
            .collect(),
        Value::Array(items) => items.iter().map(loosened).collect(),
        other => other.clone(),
    }
}
