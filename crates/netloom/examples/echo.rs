//! The smallest server and client: what a client says, everybody in the room hears, the speaker too.
//!
//! ```text
//! cargo run -p netloom --example echo
//! ```

use netloom::prelude::*;

/// A game without objects and without anything to do: its room only passes on what is said.
struct Echo;

impl Game for Echo {
    type Input = [u8; 1];

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        room.notify(player, "say something");
    }

    fn input(&mut self, _: &mut Room, _: PlayerId, _: &Command<[u8; 1]>) -> Result<(), Rejected> {
        Ok(())
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protocol = Protocol::builder("echo").build()?;
    // Port 0 lets the system choose. The server runs in a thread of its own until it is stopped.
    let server = Server::builder(protocol.clone()).room(RoomConfig::new("echo"), Echo);
    let server = server.listen("127.0.0.1:0").bind()?.spawn()?;
    let address = server.local_addresses()[0].to_string();
    println!("the server listens at {address}");

    let mut client = Client::<[u8; 1]>::connect(protocol, &address)?;
    'heard: loop {
        client.tick()?;
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Notice { text, .. } => {
                    println!("the server says: {text}");
                    client.chat(false, "hello")?;
                }
                ClientEvent::Said { text, .. } => {
                    println!("heard: {text}");
                    break 'heard;
                }
                ClientEvent::Ended(why) => return Err(why.to_string().into()),
                _ => {}
            }
        }
        client.wait(Micros::from_millis(10))?;
    }
    client.leave(Micros::from_secs(1))?;
    Ok(server.stop("done")?)
}
