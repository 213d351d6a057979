//! PGN: games written are games read, lichess' own texts are understood, and no text is too bad.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::{
    io::{self, Read},
    time::Duration,
};

use meitner::{
    pgn::{
        Annotation, Evaluation, Game, GameResult, MOST_GAME_BYTES, MOST_TEXT_BYTES, Problem,
        ReadError, Reader, TagName, TimeControl, UtcTime, Value,
    },
    rules::{Color, Position},
};

fn read(text: &str) -> Vec<Result<Game, ReadError>> {
    Reader::new(text.as_bytes()).collect()
}

#[track_caller]
fn read_one(text: &str) -> Game {
    let mut games = read(text);
    assert_eq!(games.len(), 1, "{games:?}\n{text}");
    games.remove(0).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Hands out a few bytes at a time, and is interrupted now and then.
struct Trickle<'a> {
    rest: &'a [u8],
    random: fastrand::Rng,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.random.u8(..4) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = self.random.usize(1..20).min(self.rest.len()).min(buffer.len());
        buffer[..length].copy_from_slice(&self.rest[..length]);
        self.rest = &self.rest[length..];
        Ok(length)
    }
}

/// The standard start, one of atomic960, or a position of a game, in equal parts.
fn random_start(random: &mut fastrand::Rng) -> Position {
    match random.u8(..3) {
        0 => Position::initial(),
        1 => {
            let starts: Vec<&str> = include_str!("data/atomic960.epd").lines().collect();
            let line = random.choice(starts).expect("there are positions");
            let fen = line.split(';').next().expect("a line begins with its FEN");
            Position::from_fen(fen).expect("a valid FEN")
        }
        _ => {
            let mut position = Position::initial();
            for _ in 0..random.u32(1..60) {
                let Some(&mv) = random.choice(position.legal_moves().iter()) else { break };
                position = position.after(mv);
            }
            position
        }
    }
}

fn random_text(random: &mut fastrand::Rng) -> String {
    let pieces = [
        "plain",
        " ",
        "\"",
        "\\",
        "\\\"",
        "]",
        "[",
        "[%",
        "%",
        "{",
        "}",
        "(",
        ")",
        ";",
        "1. e4",
        "1-0",
        "*",
        "\n",
        "\n\n[White \"x\"]",
        "\t",
        "\r\n",
        "♦ Größe",
        "🦀",
        "$3",
        "[%clk 0:00:07]",
        "[%csl Gd4]",
        "\u{feff}",
        "\0",
        "?",
        "-",
    ];
    (0..random.usize(..12)).map(|_| pieces[random.usize(..pieces.len())]).collect()
}

fn random_annotation(random: &mut fastrand::Rng) -> Annotation {
    let mut annotation = Annotation::default();
    if random.bool() {
        annotation.clock = Some(Duration::from_millis(random.u64(..40_000_000)));
    }
    if random.u8(..3) == 0 {
        let number = random.i32(-2_000..2_000);
        let value = if random.bool() { Value::Centipawns(number) } else { Value::Mate(number) };
        let depth = random.bool().then(|| random.u32(..100));
        annotation.evaluation = Some(Evaluation { value, depth });
    }
    if random.u8(..4) == 0 {
        annotation.elapsed = Some(Duration::from_secs(random.u64(..100)));
    }
    for _ in 0..random.u8(..8).saturating_sub(5) {
        annotation.add_nag(random.u8(..));
    }
    if random.u8(..3) == 0 {
        annotation.add_comment(&random_text(random));
    }
    annotation
}

fn random_game(random: &mut fastrand::Rng) -> Game {
    let mut game = Game::new(random_start(random));
    for name in [TagName::EVENT, TagName::WHITE, TagName::WHITE_ELO, TagName::ROUND] {
        game.tags.set(name, random_text(random));
    }
    for _ in 0..random.u8(..4) {
        let name = TagName::new(&format!("Odd_{}", random.alphanumeric())).expect("a name");
        game.tags.set(name, random_text(random));
    }
    let results =
        [GameResult::WhiteWins, GameResult::BlackWins, GameResult::Draw, GameResult::Unknown];
    game.result = results[random.usize(..4)];
    game.preface = random_annotation(random);
    for _ in 0..random.u32(..120) {
        let moves = game.history().position().legal_moves();
        let Some(&mv) = random.choice(moves.iter()) else { break };
        let annotation = random_annotation(random);
        game.play(mv, annotation).expect("a legal move");
    }
    game
}

#[test]
fn what_is_written_is_read_back() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let games: Vec<Game> = (0..4).map(|_| random_game(&mut random)).collect();
        let text: String = games.iter().map(ToString::to_string).collect();
        let source = Trickle { rest: text.as_bytes(), random: random.fork() };
        let found: Vec<Game> = Reader::new(source)
            .map(|game| game.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}")))
            .collect();
        assert_eq!(found.len(), games.len(), "seed {seed}\n{text}");
        for (found, game) in found.iter().zip(&games) {
            assert_eq!(found, game, "seed {seed}\n{text}");
            assert_eq!(found.to_string(), game.to_string());
        }
        // Where a line ends is a matter of taste.
        let found: Result<Vec<Game>, _> =
            Reader::new(text.replace('\n', "\r\n").as_bytes()).collect();
        assert_eq!(found.expect("readable"), games, "seed {seed}");
    }
}

#[test]
fn the_longest_texts_are_read_back() {
    let mut game = Game::default();
    let text = "ä".repeat(MOST_TEXT_BYTES);
    game.tags.set(TagName::SITE, "\"".repeat(9_999));
    game.preface.add_comment(&text);
    assert_eq!(read_one(&game.to_string()), game);
}

/// As lichess writes it, with clocks, evaluations and glyphs.
const LICHESS: &str = r#"[Event "Rated Atomic game"]
[Site "https://lichess.org/Kq7ZbT2m"]
[Date "2026.10.30"]
[Round "-"]
[White "QuietRook7"]
[Black "EmberFork"]
[Result "0-1"]
[GameId "Kq7ZbT2m"]
[UTCDate "2026.10.30"]
[UTCTime "22:40:00"]
[WhiteElo "1876"]
[BlackElo "2143"]
[WhiteRatingDiff "-5"]
[BlackRatingDiff "+4"]
[BlackTitle "BOT"]
[Variant "Atomic"]
[TimeControl "180+2"]
[ECO "?"]
[Opening "?"]
[Termination "Normal"]

1. b4 { [%eval 0.12] [%clk 0:03:00] } 1... f6 { [%eval -0.5] [%clk 0:03:00] } 2. b5?! { [%eval #-12] [%clk 0:02:58.5] } { Inaccuracy. Nf3 was best. } 2... e6 0-1

"#;

#[test]
fn a_game_of_lichess_is_understood_and_written_as_it_was() {
    let game = read_one(LICHESS);
    assert_eq!(game.to_string(), LICHESS);
    assert_eq!((game.player(Color::White), game.title(Color::White)), (Some("QuietRook7"), None));
    assert_eq!((game.rating(Color::Black), game.title(Color::Black)), (Some(2143), Some("BOT")));
    assert_eq!(game.result, GameResult::BlackWins);
    let (initial, increment) = (Duration::from_mins(3), Duration::from_secs(2));
    assert_eq!(game.time_control(), Some(TimeControl::Clock { initial, increment }));
    assert_eq!(game.began_at(), Some(UtcTime::from_epoch_ms(1_793_400_000_000)));
    let third = &game.annotations()[2];
    assert_eq!(third.nags(), [6]);
    assert_eq!(third.clock, Some(Duration::from_millis(178_500)));
    assert_eq!(third.evaluation, Some(Evaluation { value: Value::Mate(-12), depth: None }));
    assert_eq!(third.text(), "Inaccuracy. Nf3 was best.");
    assert_eq!(game.annotations()[3], Annotation::default());
}

/// The export of a game, as the API's documents show it: no round, no clocks, an explosion at the
/// end.
#[test]
fn a_whole_game_ends_as_it_did() {
    let game = read_one(
        "[Event \"Rated Atomic game\"]\n[Result \"0-1\"]\n[Variant \"Atomic\"]\n\n\
         1. b4 f6 2. b5 e6 3. Nf3 Ba3 4. d3 Bb4+ 5. Bd2 Be7 6. g4 Bb4 7. g5 h5 8. a3 Bc5 9. Bc1 \
         h4 10. g6 Ne7 11. Ng5 O-O 12. Nc3 Bxf2# 0-1\n",
    );
    assert_eq!(game.history().moves().len(), 24);
    assert_eq!(game.forced_result(), Some(GameResult::BlackWins));
}

#[test]
fn other_forms_are_understood() {
    let expected = read_one("[Variant \"Atomic\"]\n\n1. Nf3 { odd } 1... a6 2. e4 a5 *\n");
    for text in [
        "[Variant \"Atomic\"]\n1.Nf3{odd}a6 2.e4 a5",
        "\u{feff}%ignored\n[Variant \"atomic\"]\r\n\r\n1. Nf3 {odd} (1. Zz9 (x) {)}) a6\r\n2. e4 a5 *",
        "[Variant\"ATOMIC\"][Result \"*\"]\n\n1 Nf3+ {\u{7}odd\0} 1... a6 ; a4\n%a4\n2... e4 a5",
    ] {
        assert_eq!(read_one(text), expected, "{text}");
    }
}

#[test]
fn numbers_follow_the_start() {
    let fen = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 17";
    let mut game = Game::new(Position::from_fen(fen).expect("a FEN"));
    for san in ["a6", "Ne5", "a5"] {
        let mv = game.history().position().parse_san(san).expect("a move");
        game.play(mv, Annotation::default()).expect("legal");
    }
    let text = game.to_string();
    assert!(text.contains(&format!("[FEN \"{fen}\"]\n[SetUp \"1\"]\n")), "{text}");
    assert!(text.ends_with("\n\n17... a6 18. Ne5 a5 *\n\n"), "{text}");
    let first = "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"-\"]\n[White \"?\"]\n\
                 [Black \"?\"]\n[Result \"*\"]\n[Variant \"Atomic\"]\n";
    assert!(text.starts_with(first), "{text}");
    assert_eq!(read_one(&text), game);
}

/// The one error of a text, and what it says.
#[track_caller]
fn problem(text: &str) -> (Problem, String) {
    let mut games = read(text);
    assert_eq!(games.len(), 1, "{games:?}\n{text}");
    let error = games.remove(0).expect_err(text);
    let sentence = error.to_string();
    (error.problem, sentence)
}

#[test]
fn every_mistake_has_its_error() {
    let atomic = |moves: &str| format!("[Variant \"Atomic\"]\n\n{moves}\n");
    for (text, expected) in [
        (
            atomic("1. e4 e5 2. Qxg9 *"),
            "ply 3: 'Qxg9' is no move, number, glyph, comment or result",
        ),
        (atomic("1. e4 e5 2. Nxe5 *"), "ply 3: 'Nxe5' is no legal move in rnbqkbnr/"),
        (atomic("1. e4 Qxy4 d4 d5"), "ply 2: 'Qxy4' is no move"),
        (atomic("1. e4 N@f6 *"), "ply 2: 'N@f6' is no legal move"),
        (atomic("1. e4 -- *"), "ply 2: '--' is no legal move"),
        (atomic("1. Nf3 a6 2. Ne5 a5 3. Nxf7 a4 *"), "ply 6: 'a4' is no legal move"),
        (atomic("1. e4 e5 1-0 2. d4"), "ply 3: 'd4' stands behind the result"),
        (atomic("1. e4 (1. d4 d5 *"), "ply 2: '(' is no move"),
        (atomic("1. e4 {never closed"), "unterminated comment: it has to be closed"),
        (
            format!("[Result \"0-1\"]\n{}", atomic("1. e4 1-0")),
            "the tag Result says 0-1, the end of the moves 1-0",
        ),
        ("[Result \"2-0\"]\n\n1. e4 *".to_owned(), "the tag Result is '2-0', and has to be"),
        ("1. e4 e5 *".to_owned(), "the variant is not named, which means Standard"),
        (
            "[Variant \"Crazyhouse\"]\n\n1. e4 e5 *".to_owned(),
            "the variant is Crazyhouse, and only",
        ),
        ("[Variant \"Atomic\"]\n[FEN \"8/8\"]\n\n*".to_owned(), "the tag FEN is no position: "),
        ("[Variant \"Atomic\"]\n[White Foo]\n\n*".to_owned(), "'[White Foo]' is no tag; "),
        ("[Variant \"Atomic\"]\n[White \"Foo]\n\n*".to_owned(), "'[White \"Foo]' is no tag; "),
        ("[Variant \"Atomic\"]\n[Wh ite \"Foo\"]\n\n*".to_owned(), "'Wh ite' is no tag; "),
        (
            "[Variant \"Atomic\"]\n[A \"1\"]\n\n[A \"2\"]\n\n*".to_owned(),
            "the tag A stands twice; ",
        ),
        (format!("[A \"{}\n\n*", "x".repeat(40_000)), "unterminated tag: it has to be closed"),
        (format!("[A \"{}\"]\n\n*", "x".repeat(40_000)), "unterminated tag: it has to be closed"),
        (
            (0..300).map(|n| format!("[A{n} \"\"]\n")).collect::<Vec<_>>().concat(),
            "it has more than 256 tags",
        ),
        (atomic(&"Nf3 Nf6 Ng1 Ng8 ".repeat(2_501)), "it has more than 10000 plies"),
        (atomic(&format!("1. e4 {}", "{}".repeat(65))), "it has more than 64 comments to one move"),
        (
            atomic(&format!("1. e4 {{{}}} *", "x".repeat(MOST_GAME_BYTES))),
            "it has more than 4194304 bytes",
        ),
        ("<html>\n<body>no game</body>".to_owned(), "ply 1: '<html>' is no move"),
        ("{\"id\":\"Kq7ZbT2m\"} 1. e4".to_owned(), "the variant is not named"),
        ("\u{1b}[2J".to_owned(), "ply 1: ' [2J' is no move"),
    ] {
        let (_, sentence) = problem(&text);
        let start: String = text.chars().take(200).collect();
        assert!(
            sentence.starts_with(&format!("game 1 (line 1): {expected}")),
            "{sentence}\n{start}"
        );
        assert!(sentence.len() < 400 && !sentence.contains(char::is_control), "{sentence:?}");
    }
}

#[test]
fn reading_goes_on_behind_a_bad_game() {
    let good = "[White \"w\"]\n[Variant \"Atomic\"]\n\n1. e4 e5 *\n\n";
    for bad in [
        "[Variant \"Atomic\"]\n\n1. e4 Ke4 2. d4 *\n\n".to_owned(),
        "[Variant \"Chess960\"]\n\n1. e4 e5 { } (1. d4) *\n\n".to_owned(),
        format!(
            "[A \"{}\"]\n[White \"x\"]\n[Variant \"Atomic\"]\n\n1. e4 {{\n\n}} *\n\n",
            "x".repeat(99_999)
        ),
        format!("[A \"{0}\"]\n[B \"{0}\"]\n\n1. e4 *\n\n", "x".repeat(40_000)),
        format!("1. e4 {{{}}} *\n\n", "x\n\n".repeat(MOST_GAME_BYTES / 2)),
        "what is this?\n\n".to_owned(),
    ] {
        let text = format!("{good}; a comment alone\n\n\n{bad}{good}");
        let games = read(&text);
        let start: String = bad.chars().take(80).collect();
        assert_eq!(games.len(), 3, "{games:?}\n{start}");
        assert_eq!(games[0].as_ref().expect("good"), &read_one(good), "{start}");
        assert_eq!(games[2].as_ref().expect("good"), &read_one(good), "{start}");
        let error = games[1].as_ref().expect_err("bad");
        assert_eq!((error.game, error.line), (2, 9), "{start}");
    }
}

#[test]
fn a_source_that_fails_ends_the_reading() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    for text in ["", "[Variant \"Atomic\"]\n\n1. e4", "[Variant \"Atomic\"]\n\n1. e4 *\n\n"] {
        let mut games = Reader::new(text.as_bytes().chain(Failing));
        let error = games.find_map(Result::err).expect("an error");
        assert!(matches!(error.problem, Problem::Io(_)), "{error}");
        assert!(error.to_string().ends_with("cannot be read further: the disk is gone"), "{error}");
        assert!(games.next().is_none());
    }
}

/// Bytes by chance, and games in which bytes were changed: no panic, no endless reading, and what
/// is read is written and read again.
#[test]
fn no_text_is_too_bad() {
    let alphabet = b"[]\"\\ \n\r\t%;{}().$*!?-/0123456789abcdefghNBRQKOx=+#@\xc2\xbd\xef\xff";
    for seed in 0..3_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let text: Vec<u8> = if seed % 2 == 0 {
            let length = random.usize(..2_000);
            (0..length).map(|_| alphabet[random.usize(..alphabet.len())]).collect()
        } else {
            let mut text = LICHESS.repeat(3).into_bytes();
            for _ in 0..random.usize(1..20) {
                let place = random.usize(..text.len());
                match random.u8(..3) {
                    0 => text[place] = alphabet[random.usize(..alphabet.len())],
                    1 => text.truncate(place + 1),
                    _ => text.insert(place, random.u8(..)),
                }
            }
            text
        };
        let source = Trickle { rest: &text, random: random.fork() };
        for (index, game) in Reader::new(source).enumerate() {
            assert!(index < 2_000, "seed {seed} never ends");
            match game {
                Ok(game) => assert_eq!(read_one(&game.to_string()), game, "seed {seed}"),
                Err(error) => assert!(!error.to_string().contains(char::is_control), "seed {seed}"),
            }
        }
    }
}
