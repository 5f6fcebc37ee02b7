//! The real command, with ports that the system chooses and an end to every wait.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take: tests run beside each other on slow machines.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The command, not yet started, without settings from the environment.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netloom"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("NETLOOM_") {
            command.env_remove(name);
        }
    }
    // Many servers run beside each other in tests: none has a fixed port that it was not told.
    command.env("NETLOOM_SERVER_HTTP", "").env("NETLOOM_SERVER_WEBTRANSPORT", "");
    command.args(arguments);
    // Most tests are about the command, in the game that needs no lobby.
    let plays = matches!(arguments.first(), Some(&("serve" | "connect" | "bots")));
    if plays && !arguments.contains(&"--game") {
        command.args(["--game", "cubes"]);
    }
    command
}

/// Runs the command to its end.
pub fn netloom(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command starts")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that a command failed with this status and one line that has all of these in it.
pub fn assert_fails(output: &Output, status: i32, parts: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for part in parts {
        assert!(said.contains(part), "{part:?} is missing in {said}");
    }
}

/// A process that does not outlive the test.
pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(command: &mut Command) -> Running {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
        let mut child = command.spawn().expect("the command starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        Running { child, lines }
    }

    /// Reads lines until one has this in it.
    pub fn line_with(&mut self, part: &str) -> String {
        let mut before = String::new();
        loop {
            let mut line = String::new();
            let length = self.lines.read_line(&mut line).expect("lines are text");
            assert!(length > 0, "{part:?} never came, but\n{before}");
            if line.contains(part) {
                return line;
            }
            before += &line;
        }
    }

    /// What else it prints, until it ends.
    pub fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).expect("text");
        rest
    }

    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(kill.expect("kill is there").success());
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already in most tests.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// A server.
pub struct Server {
    pub process: Running,
    /// Where it listens, without the transport if that is UDP.
    pub addresses: Vec<String>,
    /// Where its metrics are.
    pub metrics: String,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Server {
        let mut all = vec!["serve", "--metrics", "127.0.0.1:0"];
        all.extend(arguments);
        if !arguments.contains(&"--bind") {
            all.extend(["--bind", "udp://127.0.0.1:0"]);
        }
        Server::from(&mut command(&all))
    }

    pub fn from(command: &mut Command) -> Server {
        let mut process = Running::start(command);
        let mut addresses = Vec::new();
        loop {
            let line = process.line_with("  ");
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("listening"), Some(address)) => {
                    addresses.push(address.trim_start_matches("udp://").to_owned());
                }
                (Some("metrics"), Some(page)) => {
                    let metrics = page.trim_start_matches("http://").split('/').next().unwrap_or_default();
                    let metrics = metrics.to_owned();
                    return Server { process, addresses, metrics };
                }
                _ => {}
            }
        }
    }

    pub fn address(&self) -> &str {
        &self.addresses[0]
    }
}
