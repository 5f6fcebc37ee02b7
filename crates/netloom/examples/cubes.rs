//! Cubes that wander, a walker that is predicted, and a terminal to see them in.
//!
//! ```text
//! cargo run -p netloom --example cubes                  for ever, or until Ctrl-C
//! cargo run -p netloom --example cubes -- --frames 120  ends by itself
//! ```
//!
//! The line is bad on purpose, as over a mobile network: the walker `@` reacts at once all the same, and the cubes `#` move
//! smoothly, a little late.

use netloom::prelude::*;
use netloom::transport::preset;

const WIDTH: usize = 60;
const HEIGHT: usize = 16;

#[derive(Replicated, Clone, Default)]
struct Cube {
    #[replicated(position)]
    at: [f32; 3],
}

#[derive(Replicated, Clone, Default)]
#[replicated(predict)]
struct Walker {
    #[replicated(position)]
    at: [f32; 3],
}

/// How a walker moves; the client does this before the server has heard of it.
#[derive(Clone)]
struct Walk;

impl Step for Walk {
    type State = Walker;
    type Input = [u8; 1]; // 0: stand, 1: right, 2: left

    fn step(&self, walker: &mut Walker, input: &[u8; 1]) {
        walker.at[0] += [0.0, 0.2, -0.2].get(usize::from(input[0])).copied().unwrap_or(0.0);
    }
}

#[derive(Default)]
struct Meadow {
    cubes: Vec<ObjectIndex>,
    walkers: Vec<(PlayerId, ObjectIndex, Walker)>,
}

impl Game for Meadow {
    type Input = [u8; 1];

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        for _ in 0..8 {
            self.cubes.push(room.spawn(&Cube::default(), None)?);
        }
        Ok(())
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        match room.spawn(&Walker::default(), Some(player)) {
            Ok(walker) => self.walkers.push((player, walker, Walker::default())),
            Err(error) => room.kick(player, &error.to_string()),
        }
    }

    fn input(&mut self, room: &mut Room, player: PlayerId, did: &Command<[u8; 1]>) -> Result<(), Rejected> {
        let found = self.walkers.iter_mut().find(|(owner, ..)| *owner == player);
        let (_, object, walker) = found.ok_or(Rejected::new(1, "not here"))?;
        Walk.step(walker, &did.input);
        room.write(*object, walker).map_err(|_| Rejected::new(2, "gone"))
    }

    fn step(&mut self, room: &mut Room) {
        let time = room.steps() as f32 / 60.0;
        for (number, cube) in self.cubes.iter().enumerate() {
            let angle = time * 0.7 + number as f32 * 0.8;
            let at = [angle.cos() * 25.0, (angle * 1.3).sin() * 6.0, 0.0];
            room.write(*cube, &Cube { at }).expect("cubes stay");
        }
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        self.walkers.retain(|(owner, object, _)| *owner != player || room.despawn(*object).is_err());
    }
}

/// A picture in plain characters.
fn draw(client: &Client<[u8; 1]>, own: &Prediction<Walk>) -> String {
    let mut cells = vec![[b' '; WIDTH]; HEIGHT];
    let mut put = |at: [f64; 3], sign: u8| {
        let (x, y) = (at[0] + WIDTH as f64 / 2.0, at[1] + HEIGHT as f64 / 2.0);
        if let Some(cell) = cells.get_mut(y as usize).and_then(|row| row.get_mut(x as usize)) {
            *cell = sign;
        }
    };
    for (alias, seen) in client.view().into_iter().flat_map(|view| view.iter()) {
        // The own walker is shown where it is, not where the server saw it last.
        if own.object() != Some(alias) {
            put(seen.pose.position, b'#');
        }
    }
    if let Some(pose) = own.pose() {
        put(pose.position, b'@');
    }
    let rows: Vec<&str> = cells.iter().filter_map(|row| std::str::from_utf8(row).ok()).collect();
    let rtt = client.stats().map_or(Micros::ZERO, |stats| stats.rtt);
    format!("\x1b[H{}\nround trip {:.0} ms \n", rows.join("\n"), rtt.as_millis_f64())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let frames = arguments.windows(2).find(|pair| pair[0] == "--frames").map(|pair| pair[1].parse::<u64>());
    let frames = frames.transpose()?.unwrap_or(u64::MAX);

    let protocol = Protocol::builder("cubes").object::<Cube>().object::<Walker>().build()?;
    let server = Server::builder(protocol.clone()).room(RoomConfig::new("meadow"), Meadow::default());
    let server = server.listen("127.0.0.1:0").driver(Driver::DualLoop).bind()?.spawn()?;
    let address = server.local_addresses()[0].to_string();
    let mut client = Client::<[u8; 1]>::builder().bad_line(preset("4G")?).connect(protocol, &address)?;
    let mut own = Prediction::new(Walk);
    print!("\x1b[2J");
    for frame in 0..frames {
        let elapsed = client.tick()?;
        own.update(&client, elapsed)?;
        // Three seconds to the right, three to the left.
        let keys = if frame / 180 % 2 == 0 { [1] } else { [2] };
        while let Some(step) = client.poll_step() {
            client.push_input(step, keys)?;
            own.apply(step, keys);
        }
        client.send()?;
        print!("{}", draw(&client, &own));
        std::thread::sleep(std::time::Duration::from_millis(16));
    }
    client.leave(Micros::from_secs(1))?;
    Ok(server.stop("the meadow closes")?)
}
