//! Where settings come from, and where in it a mistake is.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use toml::de::DeTable;
use toml::{Table, Value};

use super::Config;
use super::fields::{self, allowed};

/// What variables begin with.
const PREFIX: &str = "NETLOOM_";

/// The settings of a file.
pub fn read_file(file: &Path) -> Result<Config, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    read(&text).map_err(|(line, message)| format!("{shown}:{line}: {message}"))
}

/// The settings in a text, or the line of a mistake and what it is.
fn read(text: &str) -> Result<Config, (usize, String)> {
    let config: Config = toml::from_str(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0);
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        match field_at(text, &at).and_then(|(section, field)| {
            Some(format!("{section}.{field}: {message}; use {}", allowed(&section, &field)?))
        }) {
            Some(message) => (line_of(text, at.start), message),
            None => (line_of(text, at.start), message),
        }
    })?;
    fields::check(&config).map_err(|wrong| {
        let line = position(text, wrong.section, wrong.field).map_or(1, |at| line_of(text, at.start));
        (line, wrong.to_string())
    })?;
    Ok(config)
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Where the value of a field is.
fn position(text: &str, section: &str, field: &str) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let within = match section {
        "" => table.get_ref(),
        section => table.get_ref().get(section)?.get_ref().as_table()?,
    };
    within.get(field).map(|value| value.span())
}

/// The section and field whose value is at a place.
fn field_at(text: &str, at: &Range<usize>) -> Option<(String, String)> {
    let table = DeTable::parse(text).ok()?;
    let sections = table.get_ref().iter();
    sections.filter_map(|(name, value)| Some((name, value.get_ref().as_table()?))).find_map(
        |(section, fields)| {
            let (field, _) = fields.iter().find(|(_, value)| {
                let span = value.span();
                span.start <= at.start && at.end <= span.end
            })?;
            Some((section.get_ref().to_string(), field.get_ref().to_string()))
        },
    )
}

/// The settings with those of the environment instead.
pub fn with_environment(
    config: &Config,
    environment: impl Iterator<Item = (String, OsString)>,
) -> Result<Config, String> {
    let mut table = fields::table(config);
    let mut changed = false;
    for (name, value) in environment {
        let Some((section, field)) = setting_of(&table, &name) else { continue };
        let value = value.into_string().map_err(|_| format!("{name} is no text"))?;
        let Some(place) = table.get_mut(&section).and_then(|section| section.get_mut(&field)) else {
            continue;
        };
        *place = parse_like(place, &value).ok_or_else(|| {
            format!(
                "{name} = {value:?} is not allowed: use {}",
                allowed(&section, &field).unwrap_or_default()
            )
        })?;
        changed = true;
    }
    if !changed {
        return Ok(config.clone());
    }
    table.try_into().map_err(|error: toml::de::Error| format!("in the environment: {}", error.message()))
}

/// The setting that a variable is for.
fn setting_of(table: &Table, variable: &str) -> Option<(String, String)> {
    let name = variable.strip_prefix(PREFIX)?.to_ascii_lowercase();
    let (section, field) = name.split_once('_')?;
    table.get(section)?.get(field)?;
    Some((section.to_owned(), field.to_owned()))
}

/// A text as a value of the same type as another.
fn parse_like(value: &Value, text: &str) -> Option<Value> {
    Some(match value {
        Value::Integer(_) => Value::Integer(text.trim().parse().ok()?),
        Value::Float(_) => Value::Float(text.trim().parse().ok()?),
        Value::Boolean(_) => Value::Boolean(text.trim().parse().ok()?),
        Value::Array(_) => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
        }
        _ => Value::String(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_a_file_have_their_line_and_field() {
        for (text, line, parts) in [
            ("[room]\ntick_rate = 1000\n", 2, &["room.tick_rate", "1000", "1 to 240"][..]),
            ("version = 1\n\n[server]\nport = \"x\"\n", 4, &["server.port", "0 to 65535"]),
            ("[server]\nport = 70000\n", 2, &["server.port", "70000", "0 to 65535"]),
            ("[server]\nprot = 7777\n", 2, &["prot", "port"]),
            ("[sevrer]\n", 1, &["sevrer", "server"]),
            ("[room]\nsend_rate = 7\n", 2, &["room.send_rate", "divisor"]),
            ("version = 9\n", 1, &["version", "9"]),
            ("[room\n", 1, &[]),
            ("[server]\nbind = [\"ftp://x\"]\n", 2, &["server.bind", "ftp"]),
        ] {
            let (at, message) = read(text).unwrap_err();
            assert_eq!(at, line, "{text}: {message}");
            assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
        }
        assert_eq!(read("").unwrap(), Config::default());
        assert_eq!(read("[connection]\npeer_timeout = 20\n").unwrap().connection.peer_timeout, 20.0);
    }

    #[test]
    fn the_environment_overrides_and_is_checked() {
        let set = |name: &str, value: &str| {
            with_environment(&Config::default(), [(name.to_owned(), value.into())].into_iter())
        };
        assert_eq!(set("NETLOOM_ROOM_TICK_RATE", "30").unwrap().room.tick_rate, 30);
        assert_eq!(
            set("NETLOOM_SERVER_BIND", "udp://[::]:1, ws://127.0.0.1:2").unwrap().server.bind.len(),
            2
        );
        assert_eq!(set("NETLOOM_SERVER_METRICS", "").unwrap().server.metrics, "");
        assert!(set("NETLOOM_LOG_JSON", "true").unwrap().log.json);
        assert_eq!(set("NETLOOM_UNRELATED", "x").unwrap(), Config::default());
        let message = set("NETLOOM_SERVER_PORT", "many").unwrap_err();
        assert!(message.contains("NETLOOM_SERVER_PORT") && message.contains("0 to 65535"), "{message}");
    }
}
