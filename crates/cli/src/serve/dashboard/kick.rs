//! Removing a player from the dashboard.
//!
//! Requests are answered by a thread of their own, and players are the server's. So a request puts a wish into a short queue, the
//! server's loop fulfils it after its tick and says whether the player was there, and the request waits for that.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use netloom::Server;
use netloom::prelude::PlayerId;
use netloom::transport::http::Response;
use serde::Deserialize;
use serde_json::json;

use super::json_value;

/// Wishes that wait. The thread of the dashboard waits for each, so there is never more than one; a few more do no harm.
const WAITING_MAX: usize = 4;
/// How long the server may take: it looks after every tick, and at least every 20 ms.
const PATIENCE: Duration = Duration::from_secs(2);
/// What the player is told unless the operator says something else.
const DEFAULT_REASON: &str = "removed by the operator";

/// Somebody who is to be removed.
#[derive(Debug)]
pub struct Kick {
    player: PlayerId,
    reason: String,
    /// Whether the player was there.
    answer: SyncSender<bool>,
}

/// Takes wishes.
pub type Sender = SyncSender<Kick>;

/// Fulfils them.
#[derive(Debug)]
pub struct Kicks(Receiver<Kick>);

/// Both ends of a queue.
pub fn kicks() -> (Sender, Kicks) {
    let (sender, receiver) = mpsc::sync_channel(WAITING_MAX);
    (sender, Kicks(receiver))
}

impl Kicks {
    /// Fulfils what was wished for: to be called by the server's loop.
    pub fn fulfil(&self, server: &mut Server) {
        for Kick { player, reason, answer } in self.0.try_iter() {
            let was_there = server.kick(player, &reason);
            tracing::info!(player = player.0, reason, was_there, "kicked from the dashboard");
            // Whoever asked may have lost patience.
            let _is_heard = answer.try_send(was_there);
        }
    }
}

/// What a request says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    player: u32,
    #[serde(default)]
    reason: String,
}

/// Has a player removed, and says what came of it.
pub fn answer(body: &[u8], kicks: &Sender) -> Response {
    let Ok(Wish { player, reason }) = serde_json::from_slice(body) else {
        return failed(400, r#"send {"player": 7, "reason": "why"}"#);
    };
    let (answer, answered) = mpsc::sync_channel(1);
    let kick = Kick { player: PlayerId(player), reason: readable(&reason), answer };
    if kicks.try_send(kick).is_err() {
        return failed(503, "the server is busy or stopping: try again");
    }
    match answered.recv_timeout(PATIENCE) {
        Ok(true) => json_value(200, &json!({ "kicked": true, "player": player })),
        Ok(false) => failed(404, "the player is not there any more"),
        Err(_) => failed(503, "the server does not answer: it is stalled or stopping"),
    }
}

fn failed(status: u16, problem: &str) -> Response {
    json_value(status, &json!({ "kicked": false, "problem": problem }))
}

/// What a player can read. It is cut to the length of a notice where it is sent.
fn readable(reason: &str) -> String {
    let plain: String = reason.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match plain.trim() {
        "" => String::from(DEFAULT_REASON),
        plain => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers a body, with a server's loop that knows only player 7 and notes what players were told.
    fn ask(body: &str) -> (u16, serde_json::Value, Option<String>) {
        let (sender, kicks) = kicks();
        let thread = std::thread::spawn(move || {
            let Kick { player, reason, answer } = kicks.0.recv().ok()?;
            answer.try_send(player == PlayerId(7)).unwrap();
            Some(reason)
        });
        let response = answer(body.as_bytes(), &sender);
        drop(sender);
        let said = serde_json::from_slice(response.body().as_bytes()).unwrap();
        (response.status(), said, thread.join().unwrap())
    }

    #[test]
    fn the_answer_says_whether_the_player_was_there() {
        let (status, said, told) = ask(r#"{"player": 7, "reason": " too\u0007 loud\n"}"#);
        assert_eq!((status, &said["kicked"], told.as_deref()), (200, &true.into(), Some("too  loud")));
        let (status, said, told) = ask(r#"{"player": 8}"#);
        assert_eq!((status, &said["kicked"], told.as_deref()), (404, &false.into(), Some(DEFAULT_REASON)));
        assert!(said["problem"].as_str().unwrap().contains("not there"), "{said}");
    }

    #[test]
    fn what_makes_no_sense_reaches_no_server() {
        for body in
            ["", "7", "{}", r#"{"player": -1}"#, r#"{"player": "7"}"#, r#"{"player": 7, "all": true}"#]
        {
            let (status, said, told) = ask(body);
            assert_eq!((status, &said["kicked"], told), (400, &false.into(), None), "{body}");
        }
    }

    #[test]
    fn a_server_that_is_gone_is_said_to_be() {
        let (sender, kicks) = kicks();
        drop(kicks);
        assert_eq!(answer(br#"{"player": 7}"#, &sender).status(), 503);
    }
}
