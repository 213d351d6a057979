//! Time controls as the API shows them: speeds, clocks, days, and what can be rated.

use std::time::Duration;

use serde_json::{Value, json};

use crate::arbiter::TimeControl;

/// The time that a game is expected to take for each side.
fn estimate(limit: Duration, increment: Duration) -> Duration {
    limit.saturating_add(increment.saturating_mul(40))
}

/// The name of a time control's speed.
pub(super) fn speed(control: TimeControl) -> &'static str {
    let TimeControl::RealTime { limit, increment } = control else { return "correspondence" };
    match estimate(limit, increment).as_secs() {
        0..30 => "ultraBullet",
        30..180 => "bullet",
        180..480 => "blitz",
        480..1500 => "rapid",
        1500..21_600 => "classical",
        _ => "correspondence",
    }
}

/// Whether atomic games at this time control are ever rated.
pub(super) fn can_be_rated(control: TimeControl) -> bool {
    match control {
        TimeControl::RealTime { limit, increment } => {
            let is_long = estimate(limit, increment) >= Duration::from_secs(30);
            (is_long && !limit.is_zero()) || increment >= Duration::from_secs(2)
        }
        TimeControl::Correspondence { .. } | TimeControl::Unlimited => false,
    }
}

pub(super) fn control_json(control: TimeControl) -> Value {
    match control {
        TimeControl::RealTime { limit, increment } => json!({
            "type": "clock",
            "limit": limit.as_secs(),
            "increment": increment.as_secs(),
            "show": format!("{}+{}", show_limit(limit.as_secs()), increment.as_secs()),
        }),
        TimeControl::Correspondence { per_move } => {
            json!({ "type": "correspondence", "daysPerTurn": days(per_move) })
        }
        TimeControl::Unlimited => json!({ "type": "unlimited" }),
    }
}

fn show_limit(seconds: u64) -> String {
    match seconds {
        15 => "¼".to_owned(),
        30 => "½".to_owned(),
        45 => "¾".to_owned(),
        90 => "1.5".to_owned(),
        _ => (seconds / 60).to_string(),
    }
}

/// Whole days.
pub(super) fn days(time: Duration) -> u64 {
    time.as_secs() / 86_400
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(limit: u64, increment: u64) -> TimeControl {
        TimeControl::RealTime {
            limit: Duration::from_secs(limit),
            increment: Duration::from_secs(increment),
        }
    }

    #[test]
    fn speeds_follow_the_estimate() {
        let expected = [
            (15, 0, "ultraBullet"),
            (0, 1, "bullet"),
            (60, 0, "bullet"),
            (180, 2, "blitz"),
            (600, 5, "rapid"),
            (1800, 0, "classical"),
        ];
        for (limit, increment, name) in expected {
            assert_eq!(speed(control(limit, increment)), name, "{limit}+{increment}");
        }
        assert_eq!(speed(TimeControl::Unlimited), "correspondence");
    }

    #[test]
    fn zero_plus_one_is_never_rated() {
        assert!(!can_be_rated(control(0, 1)));
        assert!(can_be_rated(control(0, 2)));
        assert!(can_be_rated(control(30, 0)));
        assert!(!can_be_rated(control(15, 0)));
        assert!(!can_be_rated(TimeControl::Unlimited));
    }

    #[test]
    fn short_limits_are_shown_as_fractions() {
        assert_eq!(control_json(control(15, 0))["show"], "¼+0");
        assert_eq!(control_json(control(90, 3))["show"], "1.5+3");
        assert_eq!(control_json(control(180, 2))["show"], "3+2");
    }
}
