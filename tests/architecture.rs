//! The law of the modules: what each may import, and what each file owes its reader.
//!
//! The table is that of `docs/ARCHITECTURE.md`. An arrow that it does not list fails here, whether
//! it is written as an import, in an expression, or as a `super` that leaves the module. The
//! checker itself is tested on snippets first, so that it cannot pass by seeing nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

#[path = "architecture/scan.rs"]
mod scan;

use scan::{Reference, identifiers, references};

/// Module, and what it may import; lowest layer first. A module may always use itself.
const TABLE: [(&str, &[&str]); 16] = [
    ("rules", &[]),
    ("pgn", &["rules"]),
    ("metrics", &[]),
    ("arbiter", &["rules"]),
    ("search", &["rules"]),
    ("game", &["rules", "search"]),
    ("store", &["rules", "pgn", "game"]),
    ("platform", &["rules", "game", "metrics"]),
    ("daemon", &["rules", "search", "game", "store", "platform", "metrics"]),
    ("uci", &["rules", "search"]),
    ("selfplay", &["rules", "pgn", "arbiter", "search"]),
    ("arena", &["rules", "pgn", "arbiter"]),
    ("web", &["rules", "arbiter", "search", "game", "store", "metrics"]),
    ("settings", &["search", "game", "store", "platform", "daemon", "web"]),
    (
        "cli",
        &[
            "rules", "pgn", "metrics", "arbiter", "search", "game", "store", "platform", "daemon",
            "uci", "selfplay", "arena", "web", "settings",
        ],
    ),
    // The binary and the root of the library wire the parts and hold nothing of their own.
    ("main", &["cli"]),
];

/// A file longer than this is split by concept.
const MOST_LINES: usize = 800;

/// What a file does against the law, one sentence each.
fn violations(module_path: &[&str], source: &str) -> Vec<String> {
    let own = module_path.first().copied().unwrap_or("main");
    let Some(&(_, allowed)) = TABLE.iter().find(|(module, _)| *module == own) else {
        return vec![format!("`{own}` has no row in the table")];
    };
    let judge = |reference: Reference| {
        let Some(target) = reference.path.first() else {
            return Some(format!("line {}: names the root of the crate", reference.line));
        };
        let is_allowed = target == own || allowed.contains(&target.as_str());
        (!is_allowed).then(|| format!("line {}: `{own}` may not import `{target}`", reference.line))
    };
    references(module_path, source).into_iter().filter_map(judge).collect()
}

/// All files of the source tree.
fn source_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the source tree can be read") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The path of the module that a file holds: `src/search/eval/mod.rs` is `[search, eval]`.
fn module_path(file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let relative = relative.expect("the file is in src").with_extension("");
    let mut path: Vec<String> =
        relative.iter().map(|part| part.to_str().expect("plain names").to_owned()).collect();
    if path.last().is_some_and(|last| ["mod", "lib"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

/// Runs a check on every file and fails with all that it found.
fn check_files(check: impl Fn(&Path, &str) -> Vec<String>) {
    let files = source_files();
    assert!(files.len() > 20, "only {} files found", files.len());
    let mut found = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("a source file can be read");
        let violations = check(&file, &source).into_iter();
        found.extend(violations.map(|violation| format!("{}: {violation}", file.display())));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn modules_import_only_what_the_table_lists() {
    check_files(|file, source| {
        let path = module_path(file);
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        violations(&path, source)
    });
}

#[test]
fn the_table_has_no_cycle_and_a_row_for_each_module() {
    for (row, (module, allowed)) in TABLE.iter().enumerate() {
        for target in *allowed {
            let above = TABLE[..row].iter().any(|(lower, _)| lower == target);
            assert!(above, "`{module}` names `{target}`, which is not below it");
        }
    }
    let root = include_str!("../src/lib.rs");
    let words = identifiers(root);
    let declared = words.windows(2).filter(|pair| pair[0] == "mod").map(|pair| pair[1].as_str());
    let rows: Vec<_> = declared
        .map(|module| {
            let row = TABLE.iter().position(|(name, _)| *name == module);
            row.unwrap_or_else(|| panic!("`{module}` has no row in the table"))
        })
        .collect();
    assert!(rows.len() >= 4, "{rows:?}");
}

#[test]
fn every_module_says_what_it_is() {
    check_files(|_, source| {
        let says = source.starts_with("//! ");
        if says { vec![] } else { vec!["does not begin with a `//!` comment".to_owned()] }
    });
}

#[test]
fn no_file_is_too_long() {
    check_files(|_, source| {
        let lines = source.lines().count();
        if lines <= MOST_LINES { vec![] } else { vec![format!("{lines} lines")] }
    });
}

#[test]
fn the_arena_does_not_know_the_client() {
    check_files(|file, source| {
        let is_arena = module_path(file).first().is_some_and(|module| module == "arena");
        let knows = is_arena && identifiers(source).iter().any(|word| word == "platform");
        if knows { vec!["mentions `platform`".to_owned()] } else { vec![] }
    });
}

/// `pgn-reader` brings another rules core with it, which the product must not use.
#[test]
fn there_is_one_rules_core() {
    check_files(|file, source| {
        let words = identifiers(source);
        let is_pgn = module_path(file).first().is_some_and(|module| module == "pgn");
        let has = |word: &str| words.iter().any(|other| other == word);
        if has("shakmaty") || (has("pgn_reader") && !is_pgn) {
            vec!["names another rules core".to_owned()]
        } else {
            vec![]
        }
    });
}

/// The compiler in the container sees only what `.dockerignore` lets through.
#[test]
fn the_image_is_built_with_every_file_that_the_program_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ignored = include_str!("../.dockerignore");
    let mut held = 0;
    for file in source_files() {
        let source = fs::read_to_string(&file).expect("a source file can be read");
        let places = source.split("include_str!(\"").chain(source.split("include_bytes!(\""));
        for place in places.filter_map(|rest| rest.split_once("\")").map(|(place, _)| place)) {
            let folder = file.parent().expect("a file is in a folder");
            let Ok(path) = folder.join(place).canonicalize() else { continue };
            let path = path.strip_prefix(root).expect("a file of the tree");
            let top = path.iter().next().expect("a name").to_str().expect("plain names");
            let is_ignored = ignored.lines().any(|line| line == top);
            assert!(!is_ignored, "{} needs {}", file.display(), path.display());
            held += 1;
        }
    }
    assert!(held > 10, "only {held} files found");
}

#[test]
fn the_checker_sees_every_way_to_import() {
    for (module, source) in [
        (&["rules"][..], "use crate::search::Engine;"),
        (&["rules"], "use crate::{rules::Move, search::Engine};"),
        (&["rules"], "use crate::{\n    rules::{self, Move},\n    search,\n};"),
        (&["rules"], "use {std::fmt, crate::search};"),
        (&["rules"], "pub use crate::search as s;"),
        (&["rules"], "fn f() { crate::search::bench::run(1, |_| {}); }"),
        (&["rules"], "fn f(e: &crate::search::Engine) {}"),
        (&["rules"], "use crate::*;"),
        (&["rules"], "use crate as c;"),
        (&["rules"], "macro_rules! m { () => { $crate::search::x() } }"),
        (&["rules"], "use super::search::Engine;"),
        (&["rules"], "use super::*;"),
        (&["rules", "fen"], "use super::super::search;"),
        (&["rules", "fen"], "use super::{Position, super::search};"),
        (&["rules", "fen"], "use self::super::super::search;"),
        (&["rules"], "mod tests { use super::super::search; }"),
        (&["rules"], "#[cfg(test)] mod tests { use crate::search; }"),
        (&["rules"], "mod a { mod b {} } use super::search;"),
        (&["rules"], "const C: char = '\"'; use crate::search;"),
        (&["rules"], "const C: char = '\\''; use crate::search; // '"),
        (&["rules"], "fn f<'a>(x: &'a str) -> &'a crate::search::X {}"),
        (&["rules"], "const S: &str = r#\"\"\"#; use crate::search;"),
        (&["rules"], "const S: &str = \"\\\"\"; use crate::search;"),
        (&["rules"], "use crate :: search;"),
        (&["arena", "game"], "use crate::platform::Speed;"),
        (&["game"], "use crate::daemon;"),
        (&["settings"], "use crate::arena;"),
        (&["main"], "use crate::rules;"),
        (&["unheard_of"], ""),
    ] {
        assert_eq!(violations(module, source).len(), 1, "{module:?}: {source}");
    }
}

#[test]
fn the_checker_accepts_what_is_lawful() {
    for (module, source) in [
        (&["search"][..], "use crate::{rules::{Move, Position}, search::{self, eval::{a, b}}};"),
        (
            &["search", "eval"],
            "use super::score; mod tests { use super::*; use super::super::tt; }",
        ),
        (&["search"], "mod tests { use super::*; mod deeper { use super::super::worker; } }"),
        (&["search"], "// use crate::daemon;\n/* crate::game /* nested */ crate::uci */"),
        (&["search"], "/// See [`crate::daemon`].\nconst S: &str = \"crate::daemon\";"),
        (&["search"], "const S: &str = r##\"crate::daemon \"# crate::game\"##;"),
        (&["search"], "pub(crate) fn f() {} pub(super) fn g() {} pub(in crate::search) fn h() {}"),
        (&["search"], "fn f() { crate::rules::perft(&p, 1); other::crate_name::x(); }"),
        (&["cli"], "use crate::{arena::Arena, daemon, platform::lichess::Client, settings};"),
        (&["search"], "fn f(b: u8) { if b == b'\"' {} } const D: &str = \"crate::daemon\";"),
    ] {
        assert_eq!(violations(module, source), [""; 0], "{module:?}: {source}");
    }
}
