//! The command line of every contender.

use crate::{Contender, TICKS_PER_SECOND};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

const HELP: &str = "\
Measures one library with one workload and prints one line of JSON. bench/peers/run does that for all of them.

  replicate   a world of moving objects to every client
  messages    reliable-ordered and unreliable messages to every client, 60 times a second
  latency     one reliable-ordered message per client, 60 times a second, over a bad network

  --setting NAME      of the library
  --clients N         [16; latency: 8]
  --objects N         that move, all at every tick [200]
  --sends N           times a second the world is sent: a divisor of 60 [20]
  --reliable N        reliable messages per tick and client [4; latency: 1]
  --seconds N         that are measured [10]
  --delay-ms N        each way [0; latency: 50]
  --loss-percent N    each way [0; latency: 5]

For example:
  replicate --clients 64 --objects 200 --seconds 5
  replicate --delay-ms 50 --loss-percent 2";

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A world to every client.
    Replicate,
    /// Messages, as many as a busy game has.
    Messages,
    /// Few messages, for how long they take.
    Latency,
}

/// How much of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What is done.
    pub workload: Workload,
    /// One of those that the contender names.
    pub setting: String,
    /// How many there are.
    pub clients: usize,
    /// How many move.
    pub objects: usize,
    /// How often the world is sent, a divisor of [`TICKS_PER_SECOND`].
    pub sends_per_second: u64,
    /// Messages per tick and client.
    pub reliable_per_tick: usize,
    /// Of measuring.
    pub seconds: f64,
    /// One way.
    pub delay: Duration,
    /// Share of the datagrams that are lost, each way.
    pub loss: f64,
    /// This process is that of the clients.
    pub(crate) is_client_process: bool,
    /// Of the server, of the proxy, and one more for libraries that need it.
    pub(crate) ports: [u16; 3],
}

impl Options {
    /// A socket for a server that does not make its own, with room for what all clients send at once. The system's usual room is
    /// for about 90 requests to connect: of 256 clients that ask every 100 ms in the same order, the last were never heard.
    pub fn server_socket(&self) -> std::io::Result<UdpSocket> {
        const ROOM_BYTES: usize = 2 << 20;
        let socket = UdpSocket::bind(self.server_address())?;
        rustix::net::sockopt::set_socket_recv_buffer_size(&socket, ROOM_BYTES)?;
        Ok(socket)
    }

    /// Where the server listens.
    pub fn server_address(&self) -> SocketAddr {
        loopback(self.ports[0])
    }

    /// Where clients connect to: the server, or the proxy before it.
    pub fn dial_address(&self) -> SocketAddr {
        loopback(self.ports[usize::from(self.has_proxy())])
    }

    /// One more address of the server, which no proxy is in front of.
    pub fn side_address(&self) -> SocketAddr {
        loopback(self.ports[2])
    }

    /// Ticks from one sending of the world to the next.
    pub fn ticks_per_send(&self) -> u64 {
        TICKS_PER_SECOND / self.sends_per_second
    }

    pub(crate) fn has_proxy(&self) -> bool {
        self.loss > 0.0 || !self.delay.is_zero()
    }

    pub(crate) fn from_command_line(contender: &Contender) -> Options {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        if arguments.is_empty() || arguments.iter().any(|argument| argument == "--help") {
            println!("{HELP}\n\nSettings of {}: {}", contender.name, contender.settings.join(", "));
            std::process::exit(0);
        }
        let parsed = Options::parse(contender, &arguments).and_then(|mut options| {
            if !options.is_client_process {
                options.ports = free_ports().map_err(|error| format!("no free port: {error}"))?;
            }
            Ok(options)
        });
        parsed.unwrap_or_else(|error| {
            eprintln!("{error}; --help tells more");
            std::process::exit(2);
        })
    }

    /// What the child is told; all of it, so that both processes agree.
    pub(crate) fn child_arguments(&self) -> Vec<String> {
        let ports = self.ports.map(|port| port.to_string()).join(",");
        let own = std::env::args().skip(1);
        own.chain(["--client-process".to_owned(), ports]).collect()
    }

    fn parse(contender: &Contender, arguments: &[String]) -> Result<Options, String> {
        let (workload, mut rest) = arguments.split_first().ok_or("say what to do")?;
        let workload = match workload.as_str() {
            "replicate" => Workload::Replicate,
            "messages" => Workload::Messages,
            "latency" => Workload::Latency,
            other => return Err(format!("{other} is not a workload: say replicate, messages or latency")),
        };
        if workload != Workload::Replicate && !contender.has_messages {
            return Err(format!("{} is measured with replicate only", contender.name));
        }
        let mut options = Options::usual(contender, workload);
        while let [name, value, others @ ..] = rest {
            options.set(name, value, contender)?;
            rest = others;
        }
        match rest {
            [] => Ok(options),
            [name, ..] => Err(format!("{name} needs a value")),
        }
    }

    fn usual(contender: &Contender, workload: Workload) -> Options {
        let is_latency = workload == Workload::Latency;
        Options {
            workload,
            setting: contender.settings.first().copied().unwrap_or_default().to_owned(),
            clients: if is_latency { 8 } else { 16 },
            objects: 200,
            sends_per_second: 20,
            reliable_per_tick: if is_latency { 1 } else { 4 },
            seconds: 10.0,
            delay: Duration::from_millis(if is_latency { 50 } else { 0 }),
            loss: if is_latency { 0.05 } else { 0.0 },
            is_client_process: false,
            ports: [0; 3],
        }
    }

    fn set(&mut self, name: &str, value: &str, contender: &Contender) -> Result<(), String> {
        match name {
            "--setting" if contender.settings.contains(&value) => self.setting = value.to_owned(),
            "--setting" => {
                let settings = contender.settings.join(", ");
                return Err(format!("--setting {value}: {} has {settings}", contender.name));
            }
            "--clients" => self.clients = whole(name, value, 1, 4096)?,
            "--objects" => self.objects = whole(name, value, 1, 16_384)?,
            "--sends" => {
                self.sends_per_second = whole(name, value, 1, TICKS_PER_SECOND as usize)? as u64;
                if !TICKS_PER_SECOND.is_multiple_of(self.sends_per_second) {
                    return Err(format!("--sends {value}: say a divisor of {TICKS_PER_SECOND}"));
                }
            }
            "--reliable" => self.reliable_per_tick = whole(name, value, 0, 1024)?,
            "--seconds" => self.seconds = number(name, value, 0.5, 3600.0)?,
            "--delay-ms" => self.delay = Duration::from_secs_f64(number(name, value, 0.0, 2000.0)? / 1e3),
            "--loss-percent" => self.loss = number(name, value, 0.0, 50.0)? / 100.0,
            "--client-process" => {
                let ports: Vec<u16> = value.split(',').filter_map(|port| port.parse().ok()).collect();
                self.ports = ports.try_into().map_err(|_| format!("{name} needs three ports"))?;
                self.is_client_process = true;
            }
            other => return Err(format!("{other} is not an option")),
        }
        Ok(())
    }
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Held all at once, so that they differ, and then let go for the libraries to take.
fn free_ports() -> std::io::Result<[u16; 3]> {
    let sockets =
        [UdpSocket::bind(loopback(0))?, UdpSocket::bind(loopback(0))?, UdpSocket::bind(loopback(0))?];
    let mut ports = [0; 3];
    for (port, socket) in ports.iter_mut().zip(&sockets) {
        *port = socket.local_addr()?.port();
    }
    Ok(ports)
}

fn whole(name: &str, value: &str, least: usize, most: usize) -> Result<usize, String> {
    let parsed = value.parse().ok().filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| format!("{name} {value}: say a whole number from {least} to {most}"))
}

fn number(name: &str, value: &str, least: f64, most: f64) -> Result<f64, String> {
    let parsed = value.parse().ok().filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| format!("{name} {value}: say a number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Contender =
        Contender { name: "example", settings: &["exact", "rough"], has_messages: false };

    fn parse(arguments: &str) -> Result<Options, String> {
        let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        Options::parse(&EXAMPLE, &arguments)
    }

    #[test]
    fn options_are_taken_over_the_usual_ones() {
        let options =
            parse("replicate --clients 64 --sends 60 --delay-ms 50 --loss-percent 2 --setting rough")
                .unwrap();
        assert_eq!((options.clients, options.objects, options.ticks_per_send()), (64, 200, 1));
        assert_eq!((options.delay, options.loss), (Duration::from_millis(50), 0.02));
        assert_eq!(options.setting, "rough");
        assert!(options.has_proxy());
        assert_eq!(parse("replicate").unwrap().setting, "exact");
    }

    #[test]
    fn mistakes_say_what_would_be_right() {
        for (arguments, hint) in [
            ("dance", "say replicate, messages or latency"),
            ("messages", "replicate only"),
            ("replicate --clients 0", "from 1 to 4096"),
            ("replicate --clients", "needs a value"),
            ("replicate --sends 25", "a divisor of 60"),
            ("replicate --setting best", "exact, rough"),
            ("replicate --colour red", "is not an option"),
        ] {
            let error = parse(arguments).unwrap_err();
            assert!(error.contains(hint), "{arguments}: {error}");
        }
    }
}
