"""A second opinion on the arena: berserk, a client of the Bot API that others wrote, plays a game.

Usage: play.py PROGRAM, where PROGRAM is the built `meitner`. It exits with 0 if the game was played to
its end and everything that the arena said made sense to berserk, and to the rules of python-chess.
"""

import random
import subprocess
import sys
import threading

import berserk
import chess.variant

# Longer than a game takes on a busy machine.
LIMIT_S = 180


def main(program):
    arena = subprocess.Popen(
        [program, "arena", "--port", "0", "--opponent", "random", "--time", "120+1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    # Whatever hangs, hangs no longer than this: without its server every request fails.
    watchdog = threading.Timer(LIMIT_S, arena.kill)
    watchdog.start()
    try:
        url, token = introduction(arena.stdout)
        play(berserk.Client(berserk.TokenSession(token), base_url=url))
    finally:
        watchdog.cancel()
        arena.kill()
        arena.wait()


def introduction(lines):
    """The address and the token that the arena prints."""
    found = {}
    for line in lines:
        key, _, value = line.strip().partition(" ")
        found[key] = value.strip()
        if "url" in found and "token" in found:
            return found["url"], found["token"]
    raise AssertionError("the arena does not introduce itself")


def play(client):
    account = client.account.get()
    assert account["title"] == "BOT", account
    events = client.bots.stream_incoming_events()
    challenge = next_event(events, "challenge")["challenge"]
    assert challenge["variant"]["key"] == "atomic", challenge
    client.bots.accept_challenge(challenge["id"])
    game = next_event(events, "gameStart")["game"]
    assert game["gameId"] == challenge["id"], game
    assert [each["gameId"] for each in client.games.get_ongoing()] == [game["gameId"]]
    board = follow(client, game["gameId"], game["color"])
    finish = next_event(events, "gameFinish")["game"]
    assert finish["gameId"] == game["gameId"], finish
    export = client.games.export(game["gameId"], as_pgn=False)
    assert export["variant"] == "atomic", export
    assert len(export["moves"].split()) == len(board.move_stack), export
    print(f"berserk has played {len(board.move_stack)} plies: {board.result()}")


def next_event(events, kind):
    for event in events:
        if event["type"] == kind:
            return event
    raise AssertionError(f"the event stream ended without {kind}")


def follow(client, game_id, color):
    """Plays a game to its end, and returns the last position with all its moves."""
    ours = chess.WHITE if color == "white" else chess.BLACK
    board = chess.variant.AtomicBoard()
    for line in client.bots.stream_game_state(game_id):
        if line["type"] == "gameFull":
            assert line["initialFen"] == "startpos", line
            assert line[color]["name"] == "Meitner", line
            client.bots.post_message(game_id, "Good luck & have fun!")
            state = line["state"]
        elif line["type"] == "gameState":
            state = line
        else:
            continue
        known = len(board.move_stack)
        for uci in state["moves"].split()[known:]:
            # Fails if the arena allows what the rules of python-chess do not.
            board.push(board.parse_uci(uci))
        if state["status"] != "started":
            assert_same_end(board, state)
            return board
        assert not board.is_game_over(), (board.fen(), state)
        if board.turn == ours:
            client.bots.make_move(game_id, choose(board))
    raise AssertionError("the stream ended before the game")


def choose(board):
    """A move that ends the game, if there is one; else any."""
    moves = list(board.legal_moves)
    for move in moves:
        board.push(move)
        is_won = board.is_variant_loss() or board.is_checkmate()
        board.pop()
        if is_won:
            return move.uci()
    return random.choice(moves).uci()


def assert_same_end(board, state):
    outcome = board.outcome(claim_draw=True)
    assert outcome is not None, (board.fen(), state)
    winner = {chess.WHITE: "white", chess.BLACK: "black", None: None}[outcome.winner]
    assert state.get("winner") == winner, (board.fen(), state)


if __name__ == "__main__":
    # The same game each time: what fails can be looked at again.
    random.seed(1)
    main(sys.argv[1])
