//! Puts what happens into figures. The moves of a running game are counted beside it: nothing here is in
//! the way of a move.

use tokio::sync::watch;

use crate::{
    daemon::{budget, budget::BudgetOptions, keeper::Keeper},
    game::{GameResult, Reply, Snapshot},
    metrics::{MoveFigures, PlatformMetrics, ResultKind, SearchFigures},
    store::Epoch,
};

/// Counts each move that the snapshots of a game tell of, and our rating, until the game ends.
pub(super) async fn count_moves(
    mut snapshots: watch::Receiver<Snapshot>,
    metrics: PlatformMetrics,
) {
    let (mut counted, mut rating) = (None, None);
    while snapshots.changed().await.is_ok() {
        let snapshot = snapshots.borrow_and_update();
        if let Some(reply) = snapshot.reply.filter(|reply| counted != Some(reply.ply)) {
            counted = Some(reply.ply);
            metrics.moved(&figures(&snapshot, reply));
        }
        let ours = snapshot.our_color.and_then(|us| snapshot.players[us.index()].rating);
        if let Some(ours) = ours.filter(|_| rating != ours) {
            rating = Some(ours);
            metrics.set_rating(ours);
        }
    }
}

fn figures(snapshot: &Snapshot, reply: Reply) -> MoveFigures {
    let Reply { latency, thinking, time_left, .. } = reply;
    let search = thinking.zip(snapshot.thought.as_ref()).map(|(thinking, thought)| SearchFigures {
        thinking,
        depth: thought.depth,
        nodes_per_second: thought.nps,
    });
    MoveFigures { latency, time_left, search }
}

/// Tells how many games with bots are left.
pub(super) fn count_budget(keeper: &Keeper, options: &BudgetOptions, metrics: &PlatformMetrics) {
    metrics.set_bot_games_left(budget::left(&keeper.state().budget, options, Epoch::now()));
}

/// What a result is counted as.
pub(super) fn result_kind(result: GameResult) -> ResultKind {
    match result {
        GameResult::Won => ResultKind::Won,
        GameResult::Lost => ResultKind::Lost,
        GameResult::Drawn => ResultKind::Drawn,
        GameResult::Aborted => ResultKind::Aborted,
        GameResult::Unknown => ResultKind::Unknown,
    }
}
