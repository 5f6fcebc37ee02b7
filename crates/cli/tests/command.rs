//! What a user sees of the `netloom` command.

use std::process::{Command, Output, Stdio};

fn netloom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_netloom")).args(arguments).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_demonstration_shows_a_session_and_is_always_the_same() {
    let output = netloom(&["demo"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["handshake", "ordered", "sequenced", "p99"] {
        assert!(stdout(&output).contains(word), "{word} is missing in\n{}", stdout(&output));
    }
    assert_eq!(stdout(&output), stdout(&netloom(&["demo"])), "two runs differ");
}

#[test]
fn a_scenario_prints_its_summary_and_nothing_to_a_pipe_on_stderr() {
    let output = netloom(&["sim", "--scenario", "clean", "--seed", "7", "--runs", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("clean: 2 runs, 0 failed"));
    assert_eq!(stderr(&output), "");
}

#[test]
fn the_number_of_threads_does_not_change_the_summary() {
    let run =
        |threads| stdout(&netloom(&["sim", "--scenario", "clean", "--runs", "4", "--threads", threads]));
    assert_eq!(run("1"), run("3"));
}

#[test]
fn an_unknown_scenario_names_the_known_ones() {
    let output = netloom(&["sim", "--scenario", "typo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("\"typo\"") && stderr(&output).contains("lossy"), "{}", stderr(&output));
}

#[test]
fn the_list_names_every_scenario() {
    let listed = stdout(&netloom(&["sim", "--list"]));
    for scenario in netloom_sim::scenarios::ALL {
        assert!(listed.contains(scenario.name()) && listed.contains(scenario.about()));
    }
}

#[test]
fn impossible_arguments_are_refused_with_the_allowed_range() {
    for arguments in [
        &["sim", "--scenario", "clean", "--runs", "0"][..],
        &["sim", "--scenario", "clean", "--threads", "0"],
    ] {
        let output = netloom(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("1.."), "{}", stderr(&output));
    }
    let output = netloom(&["sim", "--scenario", "clean", "--seed", "18446744073709551615", "--runs", "2"]);
    assert!(stderr(&output).contains("leaves no room"), "{}", stderr(&output));
    assert_eq!(netloom(&["sim"]).status.code(), Some(2), "a scenario is needed");
}

#[test]
fn help_shows_examples() {
    assert!(stdout(&netloom(&["--help"])).contains("netloom sim --scenario lossy --runs 1000"));
}

#[test]
fn a_reader_that_stops_listening_is_no_error() {
    for arguments in [
        &["sim", "--list"][..],
        &["sim", "--scenario", "clean", "--runs", "2"],
        &["demo"],
        &["config", "--default"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netloom"));
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output =
            command.args(arguments).stdout(writer).stderr(Stdio::piped()).output().expect("it starts");
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{arguments:?}");
    }
}
