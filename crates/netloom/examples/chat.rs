//! A chat room in the terminal.
//!
//! ```text
//! cargo run -p netloom --example chat -- server 0.0.0.0:7777
//! cargo run -p netloom --example chat -- 127.0.0.1:7777 alice
//! ```
//!
//! What is typed is said; the end of the input (Ctrl-D) leaves. The server ends with its input, too.

use std::io::BufRead;
use std::sync::mpsc::{self, Receiver, TryRecvError};

use netloom::prelude::*;

/// A room in which people talk and nothing moves.
struct Lounge;

impl Game for Lounge {
    type Input = [u8; 1];

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        let count = room.player_count();
        room.notify(player, &format!("welcome; there are {count} of you here"));
    }

    fn input(&mut self, _: &mut Room, _: PlayerId, _: &Command<[u8; 1]>) -> Result<(), Rejected> {
        Ok(())
    }

    /// Whatever is not heard is said in vain: a place for rules.
    fn chat(&mut self, _: &mut Room, _: PlayerId, text: &str) -> bool {
        !text.trim().is_empty()
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

/// Lines of the input, read where waiting for them disturbs nobody.
fn typed() -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn serve(protocol: Protocol, address: &str) -> Result<(), Box<dyn std::error::Error>> {
    // A lounge is calm: a few steps a second are plenty.
    let room = RoomConfig { steps_per_second: 10, sends_per_second: 10, ..RoomConfig::new("lounge") };
    let mut server = Server::builder(protocol).room(room, Lounge).listen(address).bind()?;
    println!("listening at {}", server.local_addresses()[0]);
    let lines = typed();
    server.run(|server| {
        while let Some(event) = server.poll_event() {
            println!("{event:?}");
        }
        if lines.try_recv() == Err(TryRecvError::Disconnected) {
            server.stop("the host has gone home");
        }
    })?;
    Ok(())
}

fn talk(protocol: Protocol, address: &str, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut client = Client::<[u8; 1]>::builder().name(name).connect::<[u8; 1]>(protocol, address)?;
    let lines = typed();
    loop {
        client.tick()?;
        while let Some(event) = client.poll_event() {
            let name_of = |player: PlayerId| {
                let other = client.others().find(|(id, _)| *id == player);
                other.map_or_else(|| String::from("you"), |(_, other)| other.name.clone())
            };
            match event {
                ClientEvent::Said { player: Some(player), text, .. } => {
                    println!("{}: {text}", name_of(player))
                }
                ClientEvent::Said { player: None, text, .. } | ClientEvent::Notice { text, .. } => {
                    println!("* {text}");
                }
                ClientEvent::Joined { player } => println!("* {} is here", name_of(player)),
                ClientEvent::Left { name, .. } => println!("* {name} is gone"),
                ClientEvent::Lost { reason } => println!("* {reason}; trying to get back"),
                ClientEvent::Ended(why) => return Err(why.to_string().into()),
                _ => {}
            }
        }
        // What is typed before there is a room waits for it.
        while client.room().is_some() {
            match lines.try_recv() {
                Ok(line) => client.chat(false, &line)?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(client.leave(Micros::from_secs(1))?),
            }
        }
        client.wait(Micros::from_millis(20))?;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protocol = Protocol::builder("chat").build()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", address] => serve(protocol, address),
        [address, name] => talk(protocol, address, name),
        _ => Err("usage: chat server ADDRESS, or: chat ADDRESS NAME".into()),
    }
}
