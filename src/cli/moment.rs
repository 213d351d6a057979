//! Moments as people write and read them, in UTC.

use std::{str::FromStr, time::Duration};

use time::{Date, Month, OffsetDateTime};

use crate::store::Epoch;

const DAY: Duration = Duration::from_hours(24);

/// A day, or so long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// The beginning of a day.
    Day(Epoch),
    Ago(Duration),
}

/// A text that is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a day like 2026-11-30, or so many days, hours or minutes ago, like 7d, 12h or 30m"
)]
pub(super) struct ParseWhenError;

impl FromStr for When {
    type Err = ParseWhenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unit = match text.chars().last() {
            Some('d') => Some(DAY),
            Some('h') => Some(Duration::from_hours(1)),
            Some('m') => Some(Duration::from_mins(1)),
            _ => None,
        };
        if let Some(unit) = unit {
            let number: u32 = text[..text.len() - 1].parse().map_err(|_| ParseWhenError)?;
            return unit.checked_mul(number).map(Self::Ago).ok_or(ParseWhenError);
        }
        day(text).map(Self::Day).ok_or(ParseWhenError)
    }
}

/// Midnight of a day such as `2026-11-30`.
fn day(text: &str) -> Option<Epoch> {
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?.parse().ok()?;
    let month = Month::try_from(parts.next()?.parse::<u8>().ok()?).ok()?;
    let date = Date::from_calendar_date(year, month, parts.next()?.parse().ok()?).ok()?;
    let seconds = date.midnight().assume_utc().unix_timestamp();
    Some(Epoch::from_secs(u64::try_from(seconds).ok()?))
}

impl When {
    /// The first moment that is not before.
    pub(super) fn begin(self, now: Epoch) -> Epoch {
        match self {
            Self::Day(day) => day,
            Self::Ago(time) => Epoch::from_secs(now.secs().saturating_sub(time.as_secs())),
        }
    }

    /// The first moment after it: days last to their end.
    pub(super) fn end(self, now: Epoch) -> Epoch {
        match self {
            Self::Day(day) => day.after(DAY),
            Self::Ago(_) => self.begin(now),
        }
    }
}

/// `2026-11-30 21:40`
pub(super) fn minute(at: Epoch) -> String {
    let Some(at) = utc(at) else { return String::new() };
    format!("{} {:02}:{:02}", at.date(), at.hour(), at.minute())
}

/// `2026-11-30`
pub(super) fn date(at: Epoch) -> String {
    utc(at).map(|at| at.date().to_string()).unwrap_or_default()
}

/// `2026-11`
pub(super) fn month(at: Epoch) -> String {
    utc(at).map(|at| format!("{}-{:02}", at.year(), u8::from(at.month()))).unwrap_or_default()
}

/// `2026-11-30T21:40:07Z`, for programs.
pub(super) fn rfc3339(at: Epoch) -> String {
    let Some(at) = utc(at) else { return String::new() };
    format!("{}T{:02}:{:02}:{:02}Z", at.date(), at.hour(), at.minute(), at.second())
}

fn utc(at: Epoch) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(i64::try_from(at.secs()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_ago_are_read() {
        let now = Epoch::from_secs(1_800_000_000);
        let midnight = Epoch::from_secs(1_799_971_200);
        for (text, begin, end) in [
            ("2027-01-15", midnight, midnight.after(DAY)),
            ("7d", Epoch::from_secs(1_799_395_200), Epoch::from_secs(1_799_395_200)),
            ("90m", Epoch::from_secs(1_799_994_600), Epoch::from_secs(1_799_994_600)),
            ("999999d", Epoch::from_secs(0), Epoch::from_secs(0)),
        ] {
            let when: When = text.parse().unwrap();
            assert_eq!((when.begin(now), when.end(now)), (begin, end), "{text}");
        }
        for text in ["", "d", "7", "-7d", "2027-02-30", "2027-1", "1969-12-31", "7ä", "2027-01-15x"]
        {
            assert_eq!(text.parse::<When>(), Err(ParseWhenError), "{text}");
        }
    }

    #[test]
    fn moments_are_written() {
        let at = Epoch::from_secs(1_800_000_007);
        assert_eq!(minute(at), "2027-01-15 08:00");
        assert_eq!(rfc3339(at), "2027-01-15T08:00:07Z");
        assert_eq!((date(at), month(at)), ("2027-01-15".to_owned(), "2027-01".to_owned()));
        assert_eq!(minute(Epoch::from_secs(u64::MAX)), "");
    }
}
