//! Dates, times of day and time controls as tags have them.

use std::{fmt, time::Duration};

/// The last millisecond of the year 9999; a date in PGN has four digits for the year.
const LAST_MS: u64 = 253_402_300_799_999;

/// A moment in UTC: the tags `UTCDate` and `UTCTime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcTime {
    /// Year, month from 1, day from 1.
    date: [u16; 3],
    /// Hour, minute, second.
    time: [u16; 3],
}

impl UtcTime {
    /// The moment so many milliseconds after the beginning of 1970; at most the end of 9999.
    pub fn from_epoch_ms(epoch_ms: u64) -> Self {
        let epoch_ms = epoch_ms.min(LAST_MS);
        let second = epoch_ms / 1000 % 86_400;
        let time = [second / 3600, second / 60 % 60, second % 60].map(small);
        Self { date: date(epoch_ms / 86_400_000), time }
    }

    /// The day as `2026.10.30`.
    pub fn date(self) -> String {
        let [year, month, day] = self.date;
        format!("{year:04}.{month:02}.{day:02}")
    }

    /// The time of day as `22:40:00`.
    pub fn time(self) -> String {
        let [hour, minute, second] = self.time;
        format!("{hour:02}:{minute:02}:{second:02}")
    }

    /// Reads both; `None` unless they are a date and a time. Days are counted to 31.
    pub fn parse(date: &str, time: &str) -> Option<Self> {
        let date = numbers(date, '.')?;
        let time = numbers(time, ':')?;
        let is_date = date[0] <= 9999 && (1..=12).contains(&date[1]) && (1..=31).contains(&date[2]);
        let is_time = time[0] < 24 && time[1] < 60 && time[2] < 60;
        (is_date && is_time).then_some(Self { date, time })
    }
}

/// Three numbers of digits only.
fn numbers(text: &str, separator: char) -> Option<[u16; 3]> {
    let mut parts = text.split(separator);
    let mut next = || {
        let part = parts.next()?;
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse().ok()).flatten()
    };
    let numbers = [next()?, next()?, next()?];
    parts.next().is_none().then_some(numbers)
}

/// The date of a day since the beginning of 1970. Counts years and months off.
fn date(mut day: u64) -> [u16; 3] {
    let mut year = 1970;
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    [year, month, day + 1].map(small)
}

/// Parts of dates and times are below 10,000.
fn small(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// How much time the players have: the tag `TimeControl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// `180+2`: so much for the game, and so much for each move.
    Clock {
        /// For the whole game.
        initial: Duration,
        /// Added for each move.
        increment: Duration,
    },
    /// `3 days per move`, as lichess writes it, or `1/3600`.
    PerMove(Duration),
    /// `-`: no clock at all.
    Unlimited,
}

const DAY: Duration = Duration::from_hours(24);

impl TimeControl {
    /// Reads a time control; `None` for `?` and for kinds that neither lichess nor we write.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "-" {
            return Some(Self::Unlimited);
        }
        if let Some(days) =
            text.strip_suffix(" days per move").or_else(|| text.strip_suffix(" day per move"))
        {
            return Some(Self::PerMove(DAY.checked_mul(days.parse().ok()?)?));
        }
        if let Some(per_move) = text.strip_prefix("1/") {
            return Some(Self::PerMove(seconds(per_move)?));
        }
        let (initial, increment) = text.split_once('+').unwrap_or((text, "0"));
        Some(Self::Clock { initial: seconds(initial)?, increment: seconds(increment)? })
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Duration::try_from_secs_f64(text.parse().ok().filter(|_| is_number)?).ok()
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock { initial, increment } => {
                write!(f, "{}+{}", initial.as_secs_f64(), increment.as_secs_f64())
            }
            Self::PerMove(time) if *time >= DAY && time.as_secs() % DAY.as_secs() == 0 => {
                let days = time.as_secs() / DAY.as_secs();
                write!(f, "{days} day{} per move", if days == 1 { "" } else { "s" })
            }
            Self::PerMove(time) => write!(f, "1/{}", time.as_secs_f64()),
            Self::Unlimited => f.write_str("-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_off_and_read_back() {
        for (epoch_ms, date, time) in [
            (0, "1970.01.01", "00:00:00"),
            (951_782_400_000, "2000.02.29", "00:00:00"),
            (1_793_400_000_000, "2026.10.30", "22:40:00"),
            (1_798_761_599_000, "2026.12.31", "23:59:59"),
            (u64::MAX, "9999.12.31", "23:59:59"),
        ] {
            let moment = UtcTime::from_epoch_ms(epoch_ms);
            assert_eq!((moment.date().as_str(), moment.time().as_str()), (date, time));
            assert_eq!(UtcTime::parse(date, time), Some(moment));
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for (date, time) in [
            ("????.??.??", "22:40:00"),
            ("2026.10.30", ""),
            ("2026.13.30", "22:40:00"),
            ("2026.00.30", "22:40:00"),
            ("2026.10.32", "22:40:00"),
            ("2026.10.30", "24:00:00"),
            ("2026.10.30", "22:60:00"),
            ("2026.10.30.1", "22:40:00"),
            ("+2026.10.30", "22:40:00"),
            ("2026.10.99999999999999999999", "22:40:00"),
        ] {
            assert_eq!(UtcTime::parse(date, time), None, "{date} {time}");
        }
    }

    #[test]
    fn time_controls_are_read_back() {
        let clock = |initial, increment| TimeControl::Clock {
            initial: Duration::from_millis(initial),
            increment: Duration::from_millis(increment),
        };
        for (control, text) in [
            (clock(180_000, 2_000), "180+2"),
            (clock(60_000, 600), "60+0.6"),
            (TimeControl::PerMove(DAY), "1 day per move"),
            (TimeControl::PerMove(3 * DAY), "3 days per move"),
            (TimeControl::PerMove(Duration::from_hours(1)), "1/3600"),
            (TimeControl::Unlimited, "-"),
        ] {
            assert_eq!(control.to_string(), text);
            assert_eq!(TimeControl::parse(text), Some(control));
        }
        assert_eq!(TimeControl::parse("600"), Some(clock(600_000, 0)));
        for text in ["", "?", "40/9000", "180+", "+2", "-5+2", "inf", "1e9+0", "x days per move"] {
            assert_eq!(TimeControl::parse(text), None, "{text}");
        }
    }
}
