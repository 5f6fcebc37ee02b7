//! Other processes: this very test program, started again with another task.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use netloom::prelude::*;
use netloom::transport::PeerAddress;

use crate::common::game::{Park, protocol};
use crate::common::{Carrier, Rig, Way};

const TASK: &str = "NETLOOM_TEST_CHILD";

/// A process that ends with the test, however that ends.
pub struct Process(Child);

impl Process {
    fn start(task: &str) -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child::does_its_task", "--nocapture"]).env(TASK, task);
        Process(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    /// A client of a server.
    pub fn client(carrier: Carrier, server: PeerAddress) -> Process {
        Process::start(&format!("client {carrier:?} {server}"))
    }

    /// A server on every kind of socket, and where it listens.
    pub fn server(driver: Driver) -> (Process, Vec<PeerAddress>) {
        let mut process = Process::start(&format!("server {driver:?}"));
        let output = BufReader::new(process.0.stdout.take().unwrap());
        let mut lines = output.lines().map_while(Result::ok);
        let line = lines.find_map(|line| line.strip_prefix("listens at ").map(str::to_owned)).unwrap();
        (process, line.split(' ').map(|address| address.parse().unwrap()).collect())
    }

    /// SIGKILL: no goodbye.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.0.id().to_string()]).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// No test by itself: what the processes do that tests start.
#[test]
fn does_its_task() {
    let Ok(task) = std::env::var(TASK) else { return };
    std::thread::spawn(|| {
        // The end of the input is the end of the test.
        let _ended = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    match &task.split(' ').collect::<Vec<_>>()[..] {
        ["client", carrier, server] => {
            let carriers = [Carrier::Udp, Carrier::Tcp, Carrier::WebSocket];
            let carrier = carriers.into_iter().find(|known| format!("{known:?}") == *carrier).unwrap();
            let mut rig = Rig::apart(Way { carrier, driver: Driver::Polling }, server.parse().unwrap());
            rig.join("doomed");
            loop {
                rig.frame();
            }
        }
        ["server", driver] => {
            let driver = if *driver == "Polling" { Driver::Polling } else { Driver::DualLoop };
            let mut builder =
                Server::builder(protocol()).driver(driver).room(RoomConfig::new("park"), Park::new(20));
            for address in ["udp://127.0.0.1:0", "tcp://127.0.0.1:0", "ws://127.0.0.1:0"] {
                builder = builder.listen(address);
            }
            let mut server = builder.bind().unwrap();
            let addresses: Vec<String> = server
                .local_addresses()
                .iter()
                .map(|address| address.resolve().unwrap().to_string())
                .collect();
            println!("listens at {}", addresses.join(" "));
            std::io::stdout().flush().unwrap();
            server.run(|_| ()).unwrap();
        }
        unknown => panic!("{unknown:?}"),
    }
}
