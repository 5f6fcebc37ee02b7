//! One flat JSON object: numbers, lists of numbers, and a few words.

use std::fmt::Write;

/// The members of an object, in the order in which they were told.
#[derive(Clone, Debug, Default)]
pub struct Report {
    members: String,
}

impl Report {
    pub fn number(&mut self, key: &str, value: f64) {
        self.member(key, &number(value));
    }

    pub fn numbers(&mut self, key: &str, values: &[f64]) {
        let values: Vec<String> = values.iter().map(|&value| number(value)).collect();
        self.member(key, &format!("[{}]", values.join(",")));
    }

    /// Words of the harness: names, and what went wrong.
    pub fn word(&mut self, key: &str, value: &str) {
        let escaped: String = value
            .chars()
            .flat_map(|letter| match letter {
                '"' | '\\' => vec!['\\', letter],
                letter if letter.is_control() => vec![' '],
                letter => vec![letter],
            })
            .collect();
        self.member(key, &format!("\"{escaped}\""));
    }

    /// The members of the line that the other process made of its report.
    pub fn append(&mut self, line: &str) {
        if let Some(members) = line.trim().strip_prefix('{').and_then(|line| line.strip_suffix('}')) {
            self.separate();
            self.members.push_str(members);
        } else {
            self.word("failed", &format!("the clients' process said: {}", line.trim()));
        }
    }

    /// On one line.
    pub fn line(&self) -> String {
        format!("{{{}}}", self.members)
    }

    fn member(&mut self, key: &str, value: &str) {
        self.separate();
        let _ = write!(self.members, "\"{key}\":{value}");
    }

    fn separate(&mut self) {
        if !self.members.is_empty() {
            self.members.push(',');
        }
    }
}

/// JSON has no word for what is not a number.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{}", (value * 1e6).round() / 1e6) } else { "null".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reports_become_one_line_of_json() {
        let (mut clients, mut server) = (Report::default(), Report::default());
        clients.number("wrong", 0.0);
        clients.numbers("latencies", &[1.5, f64::NAN]);
        server.word("peer", "say \"raw\"");
        server.number("us", 1.0 / 3.0);
        server.append(&clients.line());
        assert_eq!(server.line(), r#"{"peer":"say \"raw\"","us":0.333333,"wrong":0,"latencies":[1.5,null]}"#);
    }

    #[test]
    fn what_is_not_a_report_is_told_as_a_failure() {
        let mut report = Report::default();
        report.append("panicked");
        assert_eq!(report.line(), r#"{"failed":"the clients' process said: panicked"}"#);
    }
}
