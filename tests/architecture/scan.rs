//! Finds the paths that lead from one module of this crate to another, in Rust source text.
//!
//! It reads tokens, not syntax trees: comments and literals are dropped, then every path that
//! begins with `crate`, `super` or `self` is followed through its braces.

/// A path into the crate, from its root.
#[derive(Debug)]
pub(crate) struct Reference {
    /// Names from the root of the crate on; empty for the root itself.
    pub(crate) path: Vec<String>,
    /// Where it is written.
    pub(crate) line: usize,
}

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    /// `::`
    Path,
    Sign(char),
}

type Tokens = Vec<(Token, usize)>;

/// All names in the code, comments and literals left out.
pub(crate) fn identifiers(source: &str) -> Vec<String> {
    let words = tokens(source).into_iter().filter_map(|(token, _)| match token {
        Token::Word(word) => Some(word),
        _ => None,
    });
    words.collect()
}

/// All paths from a file into the crate. `module_path` is that of the file's own module.
pub(crate) fn references(module_path: &[&str], source: &str) -> Vec<Reference> {
    let tokens = tokens(source);
    let mut scanner = Scanner { tokens: &tokens, at: 0, found: Vec::new() };
    let mut module: Vec<String> = module_path.iter().map(|&name| name.to_owned()).collect();
    // For each open brace, whether it opened a module.
    let mut braces = Vec::new();
    while let Some(token) = scanner.peek(0) {
        match token {
            Token::Word(word) if word == "mod" && scanner.is_sign(2, '{') => {
                let Some(Token::Word(name)) = scanner.peek(1) else { break };
                module.push(name.clone());
                braces.push(true);
                scanner.at += 3;
            }
            Token::Sign('{') => {
                braces.push(false);
                scanner.at += 1;
            }
            Token::Sign('}') => {
                if braces.pop() == Some(true) {
                    module.pop();
                }
                scanner.at += 1;
            }
            Token::Word(word) if is_start(word) && !scanner.is_inside_path() => {
                if scanner.is_visibility() {
                    scanner.at += 1;
                } else {
                    scanner.tree(&module, &module);
                }
            }
            _ => scanner.at += 1,
        }
    }
    scanner.found
}

fn is_start(word: &str) -> bool {
    ["crate", "super", "self"].contains(&word)
}

struct Scanner<'a> {
    tokens: &'a Tokens,
    at: usize,
    found: Vec<Reference>,
}

impl<'a> Scanner<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a Token> {
        self.tokens.get(self.at + ahead).map(|(token, _)| token)
    }

    fn is_sign(&self, ahead: usize, sign: char) -> bool {
        self.peek(ahead) == Some(&Token::Sign(sign))
    }

    fn before(&self, back: usize) -> Option<&'a Token> {
        self.at.checked_sub(back).map(|at| &self.tokens[at].0)
    }

    /// In `a::self` the word begins nothing.
    fn is_inside_path(&self) -> bool {
        self.before(1) == Some(&Token::Path)
    }

    /// `pub(crate)`, `pub(super)`, `pub(in crate::…)`: these import nothing.
    fn is_visibility(&self) -> bool {
        let word = |token: Option<&Token>, expected: &str| matches!(token, Some(Token::Word(word)) if word == expected);
        let opened = |back| self.before(back) == Some(&Token::Sign('('));
        (opened(1) && word(self.before(2), "pub"))
            || (word(self.before(1), "in") && opened(2) && word(self.before(3), "pub"))
    }

    /// Follows a path through its braces. `prefix` is where it has come so far.
    fn tree(&mut self, module: &[String], prefix: &[String]) {
        let mut path = prefix.to_vec();
        let line = self.tokens[self.at].1;
        let (mut is_first, mut is_lone_self) = (true, false);
        while let Some(token) = self.peek(0) {
            match token {
                Token::Word(word) => {
                    match word.as_str() {
                        "crate" => path.clear(),
                        "super" => {
                            path.pop();
                        }
                        "self" => {}
                        name => path.push(name.to_owned()),
                    }
                    self.at += 1;
                    // `self` alone is a value or the end of a tree.
                    is_lone_self = is_first && word == "self" && self.peek(0) != Some(&Token::Path);
                }
                Token::Sign('{') => {
                    self.at += 1;
                    self.branches(module, &path);
                    return;
                }
                Token::Sign('*') => self.at += 1,
                _ => {}
            }
            is_first = false;
            if self.peek(0) != Some(&Token::Path) {
                break;
            }
            self.at += 1;
        }
        if !is_lone_self {
            self.found.push(Reference { path, line });
        }
    }

    /// The branches of a tree, after its brace.
    fn branches(&mut self, module: &[String], path: &[String]) {
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign('}') => {
                    self.at += 1;
                    return;
                }
                Token::Word(word) if word == "as" => self.at += 2,
                Token::Word(_) | Token::Sign('{' | '*') => self.tree(module, path),
                _ => self.at += 1,
            }
        }
    }
}

/// Cuts source text into tokens; comments and literals are left out.
fn tokens(source: &str) -> Tokens {
    let chars: Vec<char> = source.chars().collect();
    let (mut at, mut line, mut tokens) = (0, 1, Tokens::new());
    while at < chars.len() {
        let begin = at;
        let rest = &chars[at..];
        match rest {
            ['/', '/', ..] => at += rest.iter().take_while(|&&c| c != '\n').count(),
            ['/', '*', ..] => at += block_comment(rest),
            ['"', ..] => at += string(rest),
            ['r', 'b' | '"' | '#', ..] | ['b', 'r' | '"' | '\'', ..] => match literal(rest) {
                Some(length) => at += length,
                None => at += word(rest, &mut tokens, line),
            },
            ['\'', ..] => at += char_or_lifetime(rest),
            [c, ..] if c.is_alphanumeric() || *c == '_' => at += word(rest, &mut tokens, line),
            [':', ':', ..] => {
                tokens.push((Token::Path, line));
                at += 2;
            }
            [c, ..] => {
                if !c.is_whitespace() {
                    tokens.push((Token::Sign(*c), line));
                }
                at += 1;
            }
            [] => break,
        }
        line += chars[begin..at.min(chars.len())].iter().filter(|&&c| c == '\n').count();
    }
    tokens
}

fn word(rest: &[char], tokens: &mut Tokens, line: usize) -> usize {
    let word: String = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
    let length = word.chars().count();
    tokens.push((Token::Word(word), line));
    length
}

/// The length of a comment that may hold others.
fn block_comment(rest: &[char]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at + 1 < rest.len() {
        match (rest[at], rest[at + 1]) {
            ('/', '*') => {
                depth += 1;
                at += 2;
            }
            ('*', '/') => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a plain string, quotes included.
fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a literal that begins with `r`, `b` or `br`; `None` if it is a name.
fn literal(rest: &[char]) -> Option<usize> {
    let prefix = rest.iter().take_while(|&&c| c == 'b' || c == 'r').count();
    let is_raw = rest[..prefix].contains(&'r');
    let hashes = rest[prefix..].iter().take_while(|&&c| c == '#').count();
    match rest.get(prefix + hashes) {
        Some('"') if is_raw => {
            let end: Vec<char> =
                std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let body = &rest[prefix + hashes + 1..];
            let length = body.windows(end.len()).position(|window| window == end);
            length.map(|length| prefix + hashes + 1 + length + end.len())
        }
        Some('"') if hashes == 0 => Some(prefix + string(&rest[prefix..])),
        Some('\'') if hashes == 0 => Some(prefix + char_or_lifetime(&rest[prefix..])),
        _ => None,
    }
}

/// The length of a character literal, or 1 for the quote of a lifetime.
fn char_or_lifetime(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', _, tail @ ..] => {
            3 + tail.iter().position(|&c| c == '\'').map_or(0, |length| length + 1)
        }
        ['\'', _, '\'', ..] => 3,
        _ => 1,
    }
}
