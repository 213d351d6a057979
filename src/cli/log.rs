//! Starts the log: on standard error, and in files if wanted.
//!
//! Threads of its own write it: whoever logs never waits, however slowly standard error is read or
//! the disk writes. If nothing takes the lines, those that no longer fit are dropped.
//!
//! What others wrote may stand in any field. No line shows more of it than [`one_line`] leaves, so
//! that nobody can command a terminal or forge a line.

use std::{
    fmt,
    fs::File,
    io::{self, IsTerminal as _},
    os::{fd::AsFd as _, unix::fs::MetadataExt as _},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    warn,
};
use tracing_appender::{
    non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard},
    rolling::{RollingFileAppender, Rotation},
};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    field::RecordFields,
    fmt::{
        self as lines, FmtContext, FormatEvent, FormatFields, MakeWriter,
        format::{Format, Full, JsonFields, Writer},
        time::FormatTime,
    },
    layer::SubscriberExt as _,
    registry::LookupSpan,
    reload,
    util::SubscriberInitExt as _,
};

use crate::{
    game::one_line,
    pgn::UtcTime,
    settings::{LogFormat, LogOptions},
};

/// Lines that wait to be written: a few minutes of trace, or megabytes.
const WAITING_LINES: usize = 16_384;
/// No field of a line is longer.
const MOST_CHARS: usize = 4_096;
/// How the names of the log's files begin and end. The oldest files of such names are deleted, so that
/// nothing else may be called like this, such as `meitner.log` of a shell's redirection.
pub(super) const FILE_NAME: (&str, &str) = ("meitner.daily", "log");

/// No file of a day grows beyond this, whatever happens on that day, but for the line that says so.
const MOST_BYTES: u64 = 256 << 20;
/// What is said when a file is full.
const FULL: &str = "the log file of this day is full; nothing more is written to it until tomorrow";
const DAY_S: u64 = 86_400;

/// The running log. Lines are written for as long as it lives; dropping it writes those that wait,
/// unless nobody takes them.
pub(super) struct Log {
    filter: reload::Handle<EnvFilter, Registry>,
    _guards: Vec<WorkerGuard>,
}

type Lines = Box<dyn Layer<FilteredRegistry> + Send + Sync>;
type FilteredRegistry =
    tracing_subscriber::layer::Layered<reload::Layer<EnvFilter, Registry>, Registry>;

/// Starts the log of this process.
pub(super) fn start(options: &LogOptions) -> anyhow::Result<Log> {
    let filter = EnvFilter::try_new(&options.directives).context("log.filter")?;
    let (filter, handle) = reload::Layer::new(filter);
    let (stderr, guard) = in_background("log", io::stderr());
    let is_terminal = io::stderr().is_terminal();
    let mut guards = vec![guard];
    let mut layers: Vec<Lines> = vec![match options.format {
        LogFormat::Json => json(stderr),
        LogFormat::Human if is_terminal => text::<_, true>(stderr, format()),
        LogFormat::Human if is_read_by_journal(options.journal) => text::<_, false>(
            stderr,
            Journal(format().without_time().with_level(false).with_ansi(false)),
        ),
        LogFormat::Human => text::<_, false>(stderr, format()),
    }];
    let mut trouble = None;
    if let Some(folder) = &options.folder {
        match open_files(folder, options.keep_days)
            .map(|files| Capped::new(files, folder, options.format))
        {
            Ok(files) => {
                let (files, guard) = in_background("log file", files);
                guards.push(guard);
                layers.push(match options.format {
                    LogFormat::Json => json(files),
                    LogFormat::Human => text::<_, false>(files, format()),
                });
            }
            Err(error) => trouble = Some((folder, error)),
        }
    }
    tracing_subscriber::registry()
        .with(filter)
        .with(layers)
        .try_init()
        .map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))?;
    if let Some((folder, error)) = trouble {
        let error = format!("{error:#}");
        warn!(folder = %folder.display(), error, "no file of the log can be written");
    }
    Ok(Log { filter: handle, _guards: guards })
}

impl Log {
    /// Logs what these directives say from now on.
    pub(super) fn set_directives(&self, directives: &str) -> anyhow::Result<()> {
        let filter = EnvFilter::try_new(directives).context("log.filter")?;
        self.filter.reload(filter).context("the log")
    }
}

/// Opens the file of the day in a folder, which is made if need be.
pub(super) fn open_files(folder: &Path, keep_days: usize) -> anyhow::Result<RollingFileAppender> {
    let place = || format!("cannot write in {}", folder.display());
    std::fs::create_dir_all(folder).with_context(place)?;
    let (prefix, suffix) = FILE_NAME;
    RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(prefix)
        .filename_suffix(suffix)
        .max_log_files(keep_days)
        .build(folder)
        .with_context(place)
}

/// Ends a day's file when it is full: a fault that is logged again and again must not fill the disk.
struct Capped<W> {
    files: W,
    /// How much one day may have, in bytes.
    most: u64,
    /// What the present day has.
    length: u64,
    /// The present day, since 1970, in UTC as the names of the files.
    day: u64,
    is_full: bool,
    format: LogFormat,
}

impl<W: io::Write> Capped<W> {
    /// Goes on with the file of the day, which an earlier run may have begun.
    fn new(files: W, folder: &Path, format: LogFormat) -> Self {
        let now = since_1970();
        let (prefix, suffix) = FILE_NAME;
        let date = UtcTime::from_epoch_ms(now.saturating_mul(1_000)).date().replace('.', "-");
        let known = std::fs::metadata(folder.join(format!("{prefix}.{date}.{suffix}")));
        let length = known.map_or(0, |file| file.len());
        Self { files, most: MOST_BYTES, length, day: now / DAY_S, is_full: false, format }
    }

    fn write_on(&mut self, line: &[u8], day: u64) -> io::Result<()> {
        if day != self.day {
            (self.day, self.length, self.is_full) = (day, 0, false);
        }
        if self.is_full {
            return Ok(());
        }
        self.length += line.len() as u64;
        if self.length <= self.most {
            return self.files.write_all(line);
        }
        self.is_full = true;
        // On standard error; the file itself takes no more.
        warn!(most_bytes = self.most, "{FULL}");
        let last = match self.format {
            LogFormat::Json => format!("{{\"level\":\"WARN\",\"message\":\"{FULL}\"}}\n"),
            LogFormat::Human => format!("WARN {FULL}\n"),
        };
        self.files.write_all(last.as_bytes())
    }
}

impl<W: io::Write> io::Write for Capped<W> {
    /// Gets a whole line at once.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_on(line, since_1970() / DAY_S)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.files.flush()
    }
}

/// In seconds.
fn since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn in_background(
    name: &str,
    writer: impl io::Write + Send + 'static,
) -> (NonBlocking, WorkerGuard) {
    NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES)
        .thread_name(name)
        .finish(writer)
}

/// Whether standard error is the very stream that systemd speaks of: a program that it starts may
/// have led it elsewhere.
fn is_read_by_journal(stream: Option<(u64, u64)>) -> bool {
    let stderr = || File::from(io::stderr().as_fd().try_clone_to_owned().ok()?).metadata().ok();
    stream
        .is_some_and(|stream| stderr().is_some_and(|stderr| stream == (stderr.dev(), stderr.ino())))
}

fn format() -> Format {
    lines::format()
}

fn text<E, const COLORED: bool>(writer: NonBlocking, format: E) -> Lines
where
    E: FormatEvent<FilteredRegistry, Fields<COLORED>> + Send + Sync + 'static,
{
    lines::layer()
        .with_ansi(COLORED)
        .fmt_fields(Fields::<COLORED>)
        .event_format(format)
        .with_writer(writer)
        .boxed()
}

fn json(writer: NonBlocking) -> Lines {
    lines::layer()
        .event_format(lines::format().json().flatten_event(true))
        .fmt_fields(JsonFields::new())
        .with_writer(Cleaned(writer))
        .boxed()
}

/// A line for the journal of systemd, which adds the time itself and reads the level from the begin
/// (`sd-daemon(3)`, "Logging").
struct Journal<T>(Format<Full, T>);

impl<S, N, T> FormatEvent<S, N> for Journal<T>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    T: FormatTime,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let level = match *event.metadata().level() {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            Level::DEBUG | Level::TRACE => 7,
        };
        write!(writer, "<{level}>")?;
        self.0.format_event(context, writer, event)
    }
}

/// The message and the fields of a line, each as what can be seen of it. Spans keep what the first
/// writer of a type made of their fields, so that the one with colors is a type of its own.
struct Fields<const COLORED: bool>;

impl<'w, const COLORED: bool> FormatFields<'w> for Fields<COLORED> {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut visitor = Visitor::<COLORED> { writer, is_first: true, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct Visitor<'w, const COLORED: bool> {
    writer: Writer<'w>,
    is_first: bool,
    result: fmt::Result,
}

impl<const COLORED: bool> Visitor<'_, COLORED> {
    fn write(&mut self, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
        if !std::mem::take(&mut self.is_first) {
            self.writer.write_char(' ')?;
        }
        let value = one_line(&format!("{value:?}"), MOST_CHARS);
        match field.name() {
            "message" => write!(self.writer, "{value}"),
            name if COLORED => write!(self.writer, "\x1b[2m{name}=\x1b[0m{value}"),
            name => write!(self.writer, "{name}={value}"),
        }
    }
}

impl<const COLORED: bool> Visit for Visitor<'_, COLORED> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Where a record of the crate `log` comes from, which its target tells already.
        if self.result.is_ok() && !field.name().starts_with("log.") {
            self.result = self.write(field, value);
        }
    }
}

/// Leaves of each line what can be seen. JSON escapes the rest of what commands a terminal, but not
/// all of it.
#[derive(Clone)]
struct Cleaned(NonBlocking);

impl<'a> MakeWriter<'a> for Cleaned {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl io::Write for Cleaned {
    /// Gets a whole line at once.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let cleaned = one_line(&String::from_utf8_lossy(line), usize::MAX) + "\n";
        self.0.write_all(cleaned.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        sync::{Arc, Mutex},
    };

    use tracing::{info, info_span};

    use super::*;

    /// What a line is written to.
    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is written of a line that holds what nobody should send.
    fn written(layer: impl FnOnce(NonBlocking) -> Lines) -> String {
        let page = Page::default();
        let (writer, guard) = in_background("test", page.clone());
        let (filter, _handle) = reload::Layer::new(EnvFilter::new("trace"));
        let subscriber = tracing_subscriber::registry().with(filter).with(layer(writer));
        tracing::subscriber::with_default(subscriber, || {
            let hostile = "a\x1b[2Jb\n2026 ERROR forged\u{9b}31m\u{202e}\r\x07c";
            let _span = info_span!("game", game_id = %hostile).entered();
            info!(opponent = hostile, error = %hostile, "game over {hostile}");
        });
        drop(guard);
        let bytes = page.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[track_caller]
    fn assert_one_line(text: &str) {
        let line = text.strip_suffix('\n').expect("a whole line");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(!line.contains('\u{202e}') && line.contains("forged"), "{line:?}");
    }

    #[test]
    fn nothing_that_others_wrote_commands_a_terminal_or_forges_a_line() {
        let plain = written(|writer| text::<_, false>(writer, format()));
        assert_one_line(&plain);
        assert!(plain.contains("INFO game{game_id=a[2Jb"), "{plain}");
        let journal = written(|writer| {
            text::<_, false>(writer, Journal(format().without_time().with_level(false)))
        });
        assert_one_line(&journal);
        assert!(journal.starts_with("<6>game{game_id=a[2Jb"), "{journal}");
        assert_one_line(&written(json));
        let colored = written(|writer| text::<_, true>(writer, format()));
        assert_eq!(colored.lines().count(), 1, "{colored:?}");
        assert!(!colored.contains("\x1b[2J"), "{colored:?}");
    }

    #[test]
    fn a_day_has_its_limit_and_the_next_one_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        for (format, last) in [
            (LogFormat::Human, format!("WARN {FULL}")),
            (LogFormat::Json, serde_json::json!({"level": "WARN", "message": FULL}).to_string()),
        ] {
            let page = Page::default();
            let mut files = Capped::new(page.clone(), folder.path(), format);
            files.most = 8;
            for (line, day) in
                [("one\n", 7), ("two\n", 7), ("three\n", 7), ("4\n", 7), ("new\n", 8)]
            {
                files.write_on(line.as_bytes(), day).unwrap();
            }
            let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
            assert_eq!(text, format!("one\ntwo\n{last}\nnew\n"));
        }
    }

    #[test]
    fn what_an_earlier_run_wrote_on_the_same_day_counts() {
        let folder = tempfile::tempdir().unwrap();
        // The day may end in between.
        let counted = (0..2).any(|_| {
            let mut files = open_files(folder.path(), 3).unwrap();
            files.write_all(b"12345").unwrap();
            Capped::new(files, folder.path(), LogFormat::Human).length >= 5
        });
        assert!(counted);
    }

    #[test]
    fn no_more_files_are_kept_than_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for day in 10..15 {
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join(format!("meitner.daily.2026-01-{day}.log")), "").unwrap();
        }
        let others = ["notes.txt", "meitner.log", "meitner-second.log", "meitner.old.log"];
        for other in others {
            std::fs::write(path.join(other), "").unwrap();
        }
        let mut files = open_files(&path, 3).unwrap();
        files.write_all(b"x\n").unwrap();
        let names = std::fs::read_dir(&path).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        let logs = names.iter().filter(|name| name.to_string_lossy().starts_with("meitner.daily."));
        assert_eq!(logs.count(), 3, "{names:?}");
        for other in others {
            assert!(names.contains(&other.into()), "what is not ours stays: {other}");
        }
    }
}
