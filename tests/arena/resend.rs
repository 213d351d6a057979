//! When a move may be sent again, against a server that says line by line what a test wants: the
//! races that a real one shows once in a thousand games.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use meitner::{
    game::{Arrived, Command, Event},
    platform::lichess::{self, Client, adapter},
    rules::Position,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::sleep,
};

use crate::harness::{ms, within};

const OK: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{\"ok\":true}";

/// A game of ours with White, with the connections to its server in the hands of the test.
struct Wire {
    /// Connections whose request for the game's stream has come in.
    streams: mpsc::Receiver<TcpStream>,
    /// Connections whose request with a move has come in.
    moves: mpsc::Receiver<TcpStream>,
    posts: Arc<AtomicU32>,
    events: mpsc::Receiver<Arrived>,
    commands: mpsc::Sender<Command>,
    client: Arc<Client>,
    _tasks: JoinSet<()>,
}

impl Wire {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let options = lichess::Options { base_url, ..lichess::Options::default() };
        let client =
            Arc::new(Client::new(options, "lip_token".to_owned().into()).expect("it is right"));
        let (stream_sender, streams) = mpsc::channel(8);
        let (move_sender, moves) = mpsc::channel(8);
        let (event_sender, events) = mpsc::channel(64);
        let (commands, command_receiver) = mpsc::channel(8);
        let posts = Arc::new(AtomicU32::new(0));
        let mut tasks = JoinSet::new();
        let counter = Arc::clone(&posts);
        tasks.spawn(async move {
            let mut requests = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                let (streams, moves) = (stream_sender.clone(), move_sender.clone());
                let posts = Arc::clone(&counter);
                requests.spawn(async move {
                    let mut connection = BufReader::new(connection);
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if connection.read_line(&mut head).await.unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let is_move = head.starts_with("POST");
                    posts.fetch_add(u32::from(is_move), Ordering::Relaxed);
                    let to = if is_move { moves } else { streams };
                    // Fails only when the test is over.
                    let _ = to.send(connection.into_inner()).await;
                });
            }
        });
        let adapted = Arc::clone(&client);
        tasks.spawn(async move {
            let game = "abcd1234".parse().expect("an id");
            adapter::run(&adapted, "us", &game, event_sender, command_receiver).await;
        });
        Self { streams, moves, posts, events, commands, client, _tasks: tasks }
    }

    /// The next request for the stream, answered with the head of a body that goes on until it is
    /// closed.
    async fn stream(&mut self) -> TcpStream {
        let mut stream =
            within("the stream is asked for", self.streams.recv()).await.expect("it comes");
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.expect("it comes");
        stream
    }

    async fn posted(&mut self) -> TcpStream {
        within("a move comes", self.moves.recv()).await.expect("it comes")
    }

    async fn next_full(&mut self) {
        let arrived = within("the whole game is told", self.events.recv()).await.expect("it comes");
        assert!(matches!(arrived.event, Event::Full(_)), "{arrived:?}");
    }

    async fn play(&self) {
        let mv = Position::initial().parse_uci("e2e4").expect("it is right");
        self.commands
            .send(Command::Play { ply: 0, mv, offer_draw: false })
            .await
            .expect("it comes");
    }

    fn posts(&self) -> u32 {
        self.posts.load(Ordering::Relaxed)
    }
}

fn full(moves: &str) -> String {
    format!(
        r#"{{"type":"gameFull","id":"abcd1234","variant":{{"key":"atomic"}},"speed":"blitz","rated":false,"createdAt":1,"white":{{"id":"us","name":"Us"}},"black":{{"id":"them","name":"Them"}},"initialFen":"startpos","clock":{{"initial":180000,"increment":0}},"state":{}}}"#,
        state(moves)
    ) + "\n"
}

fn state(moves: &str) -> String {
    format!(
        r#"{{"type":"gameState","moves":"{moves}","wtime":180000,"btime":180000,"winc":0,"binc":0,"status":"started"}}"#
    )
}

/// Found on 2026-11-30 on an overloaded machine: the second copy of a `gameFull` came after the
/// answer to our move, was taken for a newer one without the move, and the move was sent again.
#[tokio::test]
async fn a_whole_game_that_comes_twice_makes_no_move_come_twice() {
    let mut wire = Wire::new().await;
    let mut stream = wire.stream().await;
    stream.write_all(full("").as_bytes()).await.unwrap();
    wire.next_full().await;
    wire.play().await;
    let mut post = wire.posted().await;
    post.write_all(OK).await.unwrap();
    sleep(ms(100)).await;
    stream.write_all(full("").as_bytes()).await.unwrap();
    wire.next_full().await;
    sleep(ms(400)).await;
    assert_eq!(wire.posts(), 1);
    stream.write_all((state("e2e4") + "\n").as_bytes()).await.unwrap();
    within("the echo is told", wire.events.recv()).await.unwrap();
    assert_eq!(wire.posts(), 1);
    assert_eq!(wire.client.lag_meter().lag().samples(), 1);
}

/// The stream was asked for before the answer got lost: what it shows may be older than the move.
#[tokio::test]
async fn a_whole_game_that_crossed_the_move_is_asked_for_again() {
    let mut wire = Wire::new().await;
    let mut first = wire.stream().await;
    first.write_all(full("").as_bytes()).await.unwrap();
    wire.next_full().await;
    drop(first);
    let mut second = wire.stream().await;
    wire.play().await;
    // Taken, but nobody says so.
    drop(wire.posted().await);
    sleep(ms(50)).await;
    second.write_all(full("").as_bytes()).await.unwrap();
    wire.next_full().await;
    let mut third = wire.stream().await;
    assert_eq!(wire.posts(), 1);
    third.write_all(full("e2e4").as_bytes()).await.unwrap();
    wire.next_full().await;
    sleep(ms(400)).await;
    assert_eq!(wire.posts(), 1);
    assert_eq!(wire.client.lag_meter().lag().samples(), 0, "nobody knows what came back");
}

#[tokio::test]
async fn a_move_that_a_fresh_whole_game_lacks_is_sent_again() {
    let mut wire = Wire::new().await;
    let mut first = wire.stream().await;
    first.write_all(full("").as_bytes()).await.unwrap();
    wire.next_full().await;
    wire.play().await;
    drop(wire.posted().await);
    let mut second = wire.stream().await;
    second.write_all(full("").as_bytes()).await.unwrap();
    let mut post = wire.posted().await;
    post.write_all(OK).await.unwrap();
    assert_eq!(wire.posts(), 2);
    wire.next_full().await;
    second.write_all((state("e2e4") + "\n").as_bytes()).await.unwrap();
    within("the echo is told", wire.events.recv()).await.unwrap();
    assert_eq!(wire.client.lag_meter().lag().samples(), 0, "it was sent twice");
}

/// A list that contradicts is not told; a move that was chosen meanwhile waits for the whole game.
#[tokio::test]
async fn in_doubt_about_the_position_no_move_is_sent() {
    let mut wire = Wire::new().await;
    let mut first = wire.stream().await;
    first.write_all(full("").as_bytes()).await.unwrap();
    wire.next_full().await;
    let lines = [state("d2d4"), state("c2c4 c7c5")].map(|line| line + "\n").concat();
    first.write_all(lines.as_bytes()).await.unwrap();
    let told = within("the first is told", wire.events.recv()).await.unwrap();
    let Event::State(told) = told.event else { panic!("{told:?}") };
    assert_eq!(told.moves, ["d2d4"]);
    let mut second = wire.stream().await;
    let start = Instant::now();
    let mv = Position::initial().parse_uci("e2e4").unwrap();
    wire.commands.send(Command::Play { ply: 1, mv, offer_draw: false }).await.unwrap();
    sleep(ms(200)).await;
    assert_eq!(wire.posts(), 0, "{:?}", start.elapsed());
    second.write_all(full("").as_bytes()).await.unwrap();
    wire.next_full().await;
    sleep(ms(200)).await;
    assert_eq!(wire.posts(), 0, "the position is another one");
}
