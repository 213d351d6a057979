//! Sums over games and challenges.

use crate::store::{AccountKey, Archive, Epoch, Filter, StoreError, read};

/// What games are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// All in one.
    Nothing,
    /// Who played against us.
    Opponent,
    /// The speed class.
    Speed,
    /// The color that we played.
    Color,
    /// The first moves.
    Opening,
}

impl GroupBy {
    const fn expression(self) -> &'static str {
        match self {
            Self::Nothing => "'all'",
            // The same name elsewhere is somebody else.
            Self::Opponent => {
                "opponent_name || iif((SELECT count(DISTINCT platform) FROM game) > 1,
                    ' on ' || platform, '')"
            }
            Self::Speed => "coalesce(speed, 'no clock')",
            Self::Color => "our_color",
            Self::Opening => "coalesce(opening, 'shorter, or from elsewhere')",
        }
    }
}

/// How we did in some games. Those without a result do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// What they have in common.
    pub name: String,
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
    /// The mean rating of the opponents, where known.
    pub opposition: Option<f64>,
}

impl Score {
    /// How many games.
    pub fn games(&self) -> u32 {
        self.won + self.drawn + self.lost
    }

    /// The share of the points, from 0 to 1.
    pub fn share(&self) -> f64 {
        let points = f64::from(self.won) + f64::from(self.drawn) / 2.0;
        points / f64::from(self.games().max(1))
    }
}

/// Our rating after a rated game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatingPoint {
    /// Whose.
    pub account: AccountKey,
    /// When the game began.
    pub at: Epoch,
    /// The rating.
    pub rating: u32,
}

/// How many challenges met the same answer for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeCount {
    /// Whether we made them.
    pub is_ours: bool,
    /// The word for the answer; `None` if there is none, as far as we know.
    pub answer: Option<String>,
    /// Why: in the server's word for declined ones.
    pub reason: Option<String>,
    /// How many.
    pub count: u32,
}

impl Archive {
    /// How we did, by something; the most games first. The limit of the filter does not count.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it cannot be read.
    pub fn scores(&self, filter: &Filter, by: GroupBy) -> Result<Vec<Score>, StoreError> {
        let expression = by.expression();
        let sql = format!(
            "SELECT {expression} AS name, sum(result = 'won') AS won, sum(result = 'drawn') AS drawn,
                sum(result = 'lost') AS lost, avg(opponent_rating) AS opposition
             FROM game WHERE {} AND result IN ('won', 'drawn', 'lost')
             GROUP BY name ORDER BY count(*) DESC, name",
            include_str!("sql/filter.sql")
        );
        self.query(&sql, filter, |row| {
            Ok(Score {
                name: read::text(row, "name")?,
                won: row.get("won")?,
                drawn: row.get("drawn")?,
                lost: row.get("lost")?,
                opposition: row.get("opposition")?,
            })
        })
    }

    /// Our rating after each rated game, the oldest first. The limit of the filter does not count.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it cannot be read.
    pub fn ratings(&self, filter: &Filter) -> Result<Vec<RatingPoint>, StoreError> {
        let sql = concat!(
            "SELECT platform, account, started_at, our_rating + coalesce(our_rating_diff, 0) AS rating
             FROM game WHERE ",
            include_str!("sql/filter.sql"),
            " AND rated AND our_rating IS NOT NULL ORDER BY started_at, key"
        );
        self.query(sql, filter, |row| {
            let account = AccountKey {
                platform: read::parsed(row, "platform")?,
                account: read::text(row, "account")?,
            };
            let at = Epoch::from_secs(row.get("started_at")?);
            Ok(RatingPoint { account, at, rating: row.get("rating")? })
        })
    }

    /// What became of challenges; of the filter platform, opponent and times count.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it cannot be read.
    pub fn challenges(&self, filter: &Filter) -> Result<Vec<ChallengeCount>, StoreError> {
        self.query(include_str!("sql/challenges.sql"), filter, |row| {
            Ok(ChallengeCount {
                is_ours: row.get("is_ours")?,
                answer: read::optional_text(row, "answer")?,
                reason: read::optional_text(row, "reason")?,
                count: row.get("count")?,
            })
        })
    }
}
