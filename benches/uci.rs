//! The program over pipes, as an interface starts it: from `go` to the answer of a search of one
//! node, and from `stop` to the move.
//!
//! `cargo bench --bench uci` prints the percentiles. Two pipes and two wake-ups of threads are part
//! of each figure, so that it bounds the engine's own time from above. `isready` during a search
//! does not touch it: what its figures and those of `stop` have in common is the machine's.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod percentiles;

use std::{
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

const SAMPLES: u32 = 500;

/// The program, and the ends of its pipes.
struct Program {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        let command = command.arg("uci").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let input = child.stdin.take().expect("a pipe");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut program = Self { child, input, lines };
        for option in options {
            program.send(&format!("setoption name {option}"));
        }
        program.send("isready");
        program.until("readyok");
        program
    }

    fn send(&mut self, command: &str) {
        writeln!(self.input, "{command}").expect("the program reads");
    }

    fn until(&mut self, begin: &str) {
        let mut lines = self.lines.by_ref().map(|line| line.expect("text"));
        assert!(lines.any(|line| line.starts_with(begin)), "the program answers {begin}");
    }

    fn quit(mut self) {
        self.send("quit");
        assert!(self.child.wait().expect("a child can be waited for").success());
    }
}

fn main() {
    for threads in [1, 2] {
        let options = [format!("Threads value {threads}"), "Hash value 64".to_owned()];
        let mut program = Program::start(&options.each_ref().map(String::as_str));
        let one_node = (0..SAMPLES).map(|_| {
            let started = Instant::now();
            program.send("go nodes 1");
            program.until("bestmove ");
            started.elapsed()
        });
        percentiles::print(
            &format!("go to the answer of one node, {threads} threads"),
            one_node.collect(),
        );
        let mut random = fastrand::Rng::with_seed(1);
        let (mut ready, mut stopped) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            program.send("go infinite");
            program.until("info depth ");
            // The search is anywhere in its tree when the order comes.
            let until = Instant::now() + Duration::from_micros(random.u64(..20_000));
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            for (question, answer, times) in
                [("isready", "readyok", &mut ready), ("stop", "bestmove ", &mut stopped)]
            {
                let started = Instant::now();
                program.send(question);
                program.until(answer);
                times.push(started.elapsed());
            }
        }
        percentiles::print(
            &format!("isready to readyok while it searches, {threads} threads"),
            ready,
        );
        percentiles::print(&format!("stop to bestmove, {threads} threads"), stopped);
        program.quit();
    }
}
