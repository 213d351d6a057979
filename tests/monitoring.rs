//! The figures, and what is written about them: the document lists them all, and the dashboard and the
//! alerts name no other.

use std::collections::BTreeSet;

use meitner::metrics::{AnswerKind, Metrics};

const DOCUMENT: &str = include_str!("../docs/MONITORING.md");
const DASHBOARD: &str = include_str!("../deploy/grafana/meitner.json");
const ALERTS: &str = include_str!("../deploy/prometheus/alerts.yml");

/// The figures with every one of them told.
fn text() -> String {
    let metrics = Metrics::new();
    let lichess = metrics.platform("lichess");
    lichess.set_rating(2000);
    lichess.set_bot_games_left(Some(1));
    lichess.challenge(AnswerKind::Accepted, "");
    metrics.warn("store", None);
    metrics.text()
}

/// Each figure with its kind.
fn families(text: &str) -> BTreeSet<(String, String)> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
}

/// The names of series, as a query has them.
fn series(text: &str) -> BTreeSet<&str> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.filter_map(|line| line.split(['{', ' ']).next()).collect()
}

/// The words of a query that are names of ours.
fn names(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("meitner_") || word.starts_with("process_"))
}

/// All queries of the dashboard, those of its variables included.
fn queries(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Object(object) => object
            .iter()
            .flat_map(|(key, value)| match value.as_str() {
                Some(text) if ["expr", "definition", "query"].contains(&key.as_str()) => {
                    vec![text.to_owned()]
                }
                _ => queries(value),
            })
            .collect(),
        serde_json::Value::Array(items) => items.iter().flat_map(queries).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_document_lists_every_figure_with_its_kind() {
    let rows = DOCUMENT.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let name = cells.next()?.trim_end_matches('`');
        (names(name).next() == Some(name)).then_some((name.to_owned(), cells.next()?.to_owned()))
    });
    let documented: BTreeSet<_> = rows.collect();
    let mut told = families(&text());
    if !cfg!(target_os = "linux") {
        told.extend(documented.iter().filter(|(name, _)| name.starts_with("process_")).cloned());
    }
    assert_eq!(documented, told);
    assert!(documented.len() > 25, "{documented:?}");
}

#[test]
fn the_document_names_every_label_that_is_fixed() {
    let text = text();
    let fixed = ["stream", "outcome", "result", "kind"];
    let mut values = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        for label in fixed {
            let begin = format!("{label}=\"");
            values.extend(line.split_once(&begin).and_then(|(_, rest)| rest.split('"').next()));
        }
    }
    assert!(values.len() > 20, "{values:?}");
    for value in values {
        assert!(DOCUMENT.contains(&format!("`{value}`")), "{value}");
    }
}

#[test]
fn the_dashboard_and_the_alerts_ask_for_figures_that_there_are() {
    let text = text();
    let known = series(&text);
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).expect("JSON");
    let queries = queries(&dashboard);
    assert!(queries.len() > 30, "{queries:?}");
    let alerts = ALERTS.lines().filter(|line| line.trim_start().starts_with("expr:"));
    let mut asked = BTreeSet::new();
    for query in alerts.chain(queries.iter().map(String::as_str)) {
        for name in names(query) {
            assert!(known.contains(name), "{name} in {query}");
            asked.insert(name.to_owned());
        }
    }
    for (family, _) in families(&text) {
        let is_asked = asked.contains(&family) || asked.contains(&format!("{family}_bucket"));
        assert!(is_asked, "{family} is on no panel and in no alert");
    }
}

#[test]
fn what_is_not_played_on_is_not_told() {
    let metrics = Metrics::new();
    let _fics = metrics.platform("fics");
    let text = metrics.text();
    assert!(text.contains("platform=\"fics\"") && !text.contains("platform=\"lichess\""), "{text}");
}
