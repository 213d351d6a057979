//! Reading: a stream of games, each a [`Game`] or an error.
//!
//! `pgn-reader` splits the text into tags, moves, glyphs and comments. It asks nothing of the
//! moves: each is looked for among the legal ones of our own position.

use std::{cell::RefCell, io::Read, mem, ops::ControlFlow, rc::Rc};

use pgn_reader::{KnownOutcome, Nag, Outcome, RawComment, RawTag, SanPlus, Visitor};

use crate::{
    pgn::{
        Annotation, Game, GameResult, MOST_COMMENTS, MOST_GAME_BYTES, MOST_PLIES, MOST_TAGS,
        MOST_TEXT_BYTES, Problem, ReadError, TagName, Tags,
        error::excerpt,
        source::{Log, Source, count_line_breaks},
        strays::{self, Stray},
        tags::{FEN, RESULT, SET_UP, VARIANT},
    },
    rules::{Color, Position},
};

/// A longer line of a tag may not be read.
const TAG_LINE_BYTES: usize = 16_384;

/// Reads games one by one, as an iterator. It needs memory for one game, whatever the source has,
/// and no buffer before the source.
///
/// A game that cannot be read is an error, and the next item is the next game. What belongs to no
/// game, such as empty lines and comments alone, is passed over.
#[derive(Debug)]
pub struct Reader<R> {
    parser: pgn_reader::Reader<Source<R>>,
    log: Rc<RefCell<Log>>,
    games: u64,
    has_failed: bool,
}

impl<R: Read> Reader<R> {
    /// Reads from any source.
    pub fn new(source: R) -> Self {
        let log = Rc::<RefCell<Log>>::default();
        let source = Source::new(source, Rc::clone(&log));
        let parser = pgn_reader::Reader::build(source)
            .set_supported_tag_line_length(TAG_LINE_BYTES)
            .finish();
        Self { parser, log, games: 0, has_failed: false }
    }

    /// Reads on until there is a game or an error.
    fn read(&mut self) -> Option<Result<Game, ReadError>> {
        loop {
            let line = self.log.borrow().line(self.parser.buffer());
            let read = self.parser.read_game(&mut Collector { log: Rc::clone(&self.log) });
            let is_unterminated = read.is_err();
            let game = match read {
                Ok(None) => return None,
                Ok(Some(draft)) => draft.conclude(),
                Err(_) if self.log.borrow().has_failed() => Some(Err(self.fail())),
                Err(error) => Some(Err(Problem::Unterminated(error.to_string()))),
            };
            let text = self.log.borrow_mut().end_game(self.parser.buffer());
            if is_unterminated {
                self.skip_rest();
            }
            let Some(game) = first_problem(game, strays::find(&text)) else { continue };
            self.games += 1;
            let space = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let line = line + count_line_breaks(&text[..space]);
            return Some(game.map_err(|problem| ReadError { game: self.games, line, problem }));
        }
    }

    /// The source is broken for good.
    fn fail(&mut self) -> Problem {
        self.has_failed = true;
        let error = self.log.borrow_mut().take_error();
        Problem::Io(error.unwrap_or_else(|| std::io::Error::other("the source failed")))
    }

    /// Skips what is left of a game in which the parser gave up. Each try takes a line at least.
    fn skip_rest(&mut self) {
        while self.parser.skip_game().is_err() && !self.log.borrow().has_failed() {}
        self.log.borrow_mut().end_game(self.parser.buffer());
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Game, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed { None } else { self.read() }
    }
}

/// What is wrong first: a move may be illegal only because one before it was not understood.
fn first_problem(
    game: Option<Result<Game, Problem>>,
    stray: Option<Stray>,
) -> Option<Result<Game, Problem>> {
    let (stray, stray_ply) = match stray {
        None => return game,
        Some(Stray::Tag(text)) => (Problem::Tag(text), 0),
        Some(Stray::Word { ply, text }) => (Problem::Unreadable { ply, text }, ply),
    };
    match game {
        Some(Err(problem)) if !problem.stands_behind(stray_ply) => Some(Err(problem)),
        _ => Some(Err(stray)),
    }
}

impl Problem {
    /// Whether this can be the consequence of something unreadable at a ply.
    fn stands_behind(&self, stray_ply: usize) -> bool {
        match self {
            Self::IllegalMove { ply, .. } | Self::AfterResult { ply, .. } => *ply >= stray_ply,
            Self::ResultsDiffer { .. } => true,
            Self::Variant(_) | Self::Start(_) | Self::RepeatedTag(_) | Self::Result(_) => {
                stray_ply == 0
            }
            _ => false,
        }
    }
}

/// A game that is being read.
struct Draft {
    tags: Tags,
    /// Names so far.
    names: Vec<Vec<u8>>,
    result: Option<GameResult>,
    variant: Option<String>,
    start: Option<Position>,
    /// The first problem; what follows it is not looked at.
    problem: Option<Problem>,
}

/// A game whose tags are read.
struct Moves {
    game: Game,
    /// What the tag says.
    result: Option<GameResult>,
    /// What stands behind the moves.
    token: Option<GameResult>,
    /// The begin of a comment that comes in pieces.
    comment: Vec<u8>,
    /// Comments to the newest move.
    comments: usize,
    problem: Option<Problem>,
    /// Whether there was anything that makes it a game.
    is_game: bool,
}

impl Draft {
    fn fail(&mut self, problem: Problem) {
        self.problem.get_or_insert(problem);
    }

    fn add(&mut self, name: &[u8], value: &str) {
        let name = name.trim_ascii();
        if self.names.iter().any(|known| known == name) {
            return self.fail(Problem::RepeatedTag(excerpt(name)));
        }
        if self.names.len() == MOST_TAGS {
            return self.fail(Problem::TooLong { what: "tags", most: MOST_TAGS });
        }
        self.names.push(name.to_owned());
        let name = str::from_utf8(name).unwrap_or_default();
        match name {
            RESULT => match value.parse() {
                Ok(result) => self.result = Some(result),
                Err(_) => self.fail(Problem::Result(excerpt(value.as_bytes()))),
            },
            VARIANT => self.variant = Some(value.to_owned()),
            FEN => match Position::from_fen(super::cut(value, LONGEST_FEN)) {
                Ok(position) => self.start = Some(position),
                Err(error) => self.fail(Problem::Start(error)),
            },
            SET_UP => {}
            _ => match TagName::new(name) {
                Some(name) => self.tags.set(name, value),
                None => self.fail(Problem::Tag(excerpt(name.as_bytes()))),
            },
        }
    }

    fn check_variant(&mut self) {
        // Without the tag PGN means standard chess.
        let variant = self.variant.as_deref().unwrap_or("not named, which means Standard");
        if !["Atomic", "Atomic960"].iter().any(|known| known.eq_ignore_ascii_case(variant)) {
            let variant = excerpt(variant.as_bytes());
            self.fail(Problem::Variant(variant));
        }
    }
}

/// A tag's value without its escapes: `\"` and `\\`. `RawTag::decode` of version 0.29 takes the
/// second backslash of a pair for the begin of another escape.
fn unescape(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.iter();
    while let Some(&byte) = rest.next() {
        let next = rest.as_slice().first();
        match next {
            Some(&escaped @ (b'"' | b'\\')) if byte == b'\\' => {
                rest.next();
                bytes.push(escaped);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// No position needs more bytes; of a longer text the errors would quote all.
const LONGEST_FEN: usize = 200;

impl Moves {
    fn fail(&mut self, problem: Problem) {
        self.problem.get_or_insert(problem);
    }

    fn play(&mut self, san: SanPlus) {
        self.is_game = true;
        self.comments = 0;
        if self.problem.is_some() {
            return;
        }
        let san = san.to_string();
        let ply = self.game.annotations().len() + 1;
        if self.token.is_some() {
            return self.fail(Problem::AfterResult { ply, text: san });
        }
        if ply > MOST_PLIES {
            return self.fail(Problem::TooLong { what: "plies", most: MOST_PLIES });
        }
        let played = self.game.history().position().parse_san(&san);
        match played.map(|mv| self.game.play(mv, Annotation::default())) {
            Ok(result) => debug_assert!(result.is_ok(), "a parsed move is legal"),
            Err(error) => self.fail(Problem::IllegalMove { ply, error }),
        }
    }

    fn add_to_comment(&mut self, comment: &[u8]) {
        self.is_game |= !comment.trim_ascii().is_empty();
        // A space at both ends does not count.
        let room = (MOST_TEXT_BYTES + 2).saturating_sub(self.comment.len());
        self.comment.extend_from_slice(&comment[..comment.len().min(room)]);
    }

    fn end_comment(&mut self) {
        let comment = mem::take(&mut self.comment);
        self.comments += 1;
        if self.comments > MOST_COMMENTS {
            self.fail(Problem::TooLong { what: "comments to one move", most: MOST_COMMENTS });
        }
        if self.problem.is_none() {
            self.game.newest_annotation().add_comment(&String::from_utf8_lossy(&comment));
        }
    }

    fn end(&mut self, outcome: Outcome) {
        self.is_game = true;
        self.token.get_or_insert(match outcome {
            Outcome::Known(KnownOutcome::Draw) => GameResult::Draw,
            Outcome::Known(KnownOutcome::Decisive { winner }) => {
                GameResult::won_by(winner.fold_wb(Color::White, Color::Black))
            }
            Outcome::Unknown => GameResult::Unknown,
        });
    }

    /// The game or what is wrong with it; `None` if this is no game at all.
    fn conclude(mut self) -> Option<Result<Game, Problem>> {
        if !self.is_game {
            return None;
        }
        match (self.result, self.token) {
            (Some(tag), Some(token)) if tag != token => {
                self.fail(Problem::ResultsDiffer { tag, token });
            }
            (tag, token) => self.game.result = tag.or(token).unwrap_or_default(),
        }
        Some(match self.problem {
            Some(problem) => Err(problem),
            None => Ok(self.game),
        })
    }
}

/// Collects what the parser finds.
struct Collector {
    log: Rc<RefCell<Log>>,
}

impl Collector {
    /// Lets go of a game that is too long.
    fn check_length(&self, moves: &mut Moves) {
        if self.log.borrow().is_overlong() {
            moves.problem = Some(Problem::TooLong { what: "bytes", most: MOST_GAME_BYTES });
        }
    }
}

impl Visitor for Collector {
    type Tags = Draft;
    type Movetext = Moves;
    type Output = Moves;

    fn begin_tags(&mut self) -> ControlFlow<Moves, Draft> {
        ControlFlow::Continue(Draft {
            tags: Tags::default(),
            names: Vec::new(),
            result: None,
            variant: None,
            start: None,
            problem: None,
        })
    }

    fn tag(&mut self, draft: &mut Draft, name: &[u8], value: RawTag<'_>) -> ControlFlow<Moves> {
        if draft.problem.is_none() {
            draft.add(name, &unescape(value.as_bytes()));
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut draft: Draft) -> ControlFlow<Moves, Moves> {
        draft.check_variant();
        let mut game = Game::new(draft.start.unwrap_or_else(Position::initial));
        game.tags = draft.tags;
        ControlFlow::Continue(Moves {
            game,
            result: draft.result,
            token: None,
            comment: Vec::new(),
            comments: 0,
            problem: draft.problem,
            is_game: !draft.names.is_empty(),
        })
    }

    fn san(&mut self, moves: &mut Moves, san: SanPlus) -> ControlFlow<Moves> {
        self.check_length(moves);
        moves.play(san);
        ControlFlow::Continue(())
    }

    fn nag(&mut self, moves: &mut Moves, nag: Nag) -> ControlFlow<Moves> {
        if moves.problem.is_none() {
            moves.game.newest_annotation().add_nag(nag.0);
        }
        ControlFlow::Continue(())
    }

    fn partial_comment(&mut self, moves: &mut Moves, part: RawComment<'_>) -> ControlFlow<Moves> {
        moves.add_to_comment(part.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, moves: &mut Moves, comment: RawComment<'_>) -> ControlFlow<Moves> {
        self.check_length(moves);
        moves.add_to_comment(comment.as_bytes());
        moves.end_comment();
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, moves: &mut Moves, outcome: Outcome) -> ControlFlow<Moves> {
        moves.end(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, mut moves: Moves) -> Moves {
        self.check_length(&mut moves);
        moves
    }
}
