//! `/dashboard`: what an operator keeps on a second screen.
//!
//! It shows what `/metrics` tells, by the second, and can remove a player. It is answered by the thread of the metrics: whatever is
//! asked here, however often, the game does not notice.
//!
//! ```text
//!   figures ─▶ Sampler, once a second ─▶ /dashboard/data.json      the last sample
//!                                     └▶ /dashboard/history.json   five minutes, for charts
//!   POST /dashboard/kick ─▶ queue ─▶ the server, after its next tick ─▶ whether the player was there
//! ```
//!
//! Only this machine may look, and only the dashboard's own page may act: see [`guard`]. What the answers mean is in
//! docs/DASHBOARD.md.

mod guard;
mod kick;
mod sampler;

use std::sync::{Arc, Mutex, PoisonError};

use netloom::Stats;
use netloom::prelude::Micros;
use netloom::transport::http::{Body, Request, Response};
use serde_json::Value;

use super::pages;
use sampler::Sampler;

pub use guard::check_asker;
pub use kick::kicks;

/// The longest body of a request.
pub const BODY_BYTES_MAX: usize = 1 << 10;

/// Where the page is.
pub const PATH: &str = "/dashboard";

/// Where the parts are that pages have in common.
const COMMON: &str = "/common/";

/// The dashboard of a server.
#[derive(Clone)]
pub struct Dashboard {
    sampler: Arc<Mutex<Sampler>>,
    kicks: kick::Sender,
}

/// Whether a path is the dashboard's own.
pub fn is_own(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether the dashboard's page asks for this.
pub fn is_needed(path: &str) -> bool {
    is_own(path) || path.starts_with(COMMON)
}

impl Dashboard {
    /// Of these figures; who is to be removed goes there.
    pub fn new(stats: Arc<Stats>, kicks: kick::Sender) -> Dashboard {
        Dashboard { sampler: Arc::new(Mutex::new(Sampler::new(stats))), kicks }
    }

    /// Takes a sample if it is time, and says when the next one is.
    pub fn handle_time(&self, now: Micros) -> Micros {
        self.with_sampler(|sampler| sampler.handle_time(now))
    }

    fn with_sampler<R>(&self, run: impl FnOnce(&mut Sampler) -> R) -> R {
        run(&mut self.sampler.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The answer to a request for something of the dashboard's.
    pub fn answer(&self, request: &Request<'_>) -> Response {
        if let Err(refusal) = guard::check_asker(request) {
            return refusal;
        }
        match (request.method(), request.path()) {
            ("POST", "/dashboard/kick") => match guard::check_page(request) {
                Ok(()) => kick::answer(request.body(), &self.kicks),
                Err(refusal) => refusal,
            },
            (_, "/dashboard/kick") => not_allowed("POST"),
            ("POST", _) => not_allowed("GET, HEAD"),
            (_, PATH) => unkept(Response::empty(302)).with_field("Location", "/dashboard/"),
            (_, "/dashboard/data.json") => json(200, self.with_sampler(Sampler::data)),
            (_, "/dashboard/history.json") => json(200, self.with_sampler(Sampler::history)),
            _ => pages::answer("", request)
                .unwrap_or_else(|| unkept(Response::text(404, "there is no such page\n"))),
        }
    }
}

fn not_allowed(methods: &'static str) -> Response {
    unkept(Response::text(405, format!("use {methods}\n"))).with_field("Allow", methods)
}

/// An answer that is different the next time, and for nobody else.
fn unkept(response: Response) -> Response {
    response
        .with_field("Cache-Control", "no-store")
        .with_field("Cross-Origin-Resource-Policy", "same-origin")
        .with_field("Referrer-Policy", "no-referrer")
}

fn json(status: u16, body: impl Into<Body>) -> Response {
    unkept(Response::new(status, "application/json", body))
}

fn json_value(status: u16, value: &Value) -> Response {
    json(status, format!("{value}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beside_the_dashboard_are_none_of_its() {
        assert!(["/dashboard", "/dashboard/", "/dashboard/main.js"].into_iter().all(is_own));
        assert!(!["/", "/dashboards", "/dash", "/metrics", "//dashboard"].into_iter().any(is_own));
    }

    #[test]
    fn everything_that_the_page_loads_is_there() {
        let (kick, _kicks) = kicks();
        let protocol = netloom::prelude::Protocol::builder("empty").build().unwrap();
        let server = netloom::Server::builder(protocol).listen("127.0.0.1:0").bind().unwrap();
        let dashboard = Dashboard::new(server.stats(), kick);
        let get = |path: &str| {
            let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            let request = Request::parse(head.as_bytes()).unwrap().with(b"", "127.0.0.1:1".parse().unwrap());
            let response = dashboard.answer(&request);
            (response.status(), String::from_utf8(response.body().as_bytes().to_vec()).unwrap())
        };
        assert_eq!(get(PATH).0, 302);
        let (mut wanted, mut seen) = (vec![String::from("/dashboard/")], Vec::new());
        while let Some(path) = wanted.pop() {
            if seen.contains(&path) {
                continue;
            }
            let (status, text) = get(&path);
            assert!(status == 200 && is_needed(&path), "{path}: {status}");
            for quoted in ["from \"", "src=\"", "href=\""] {
                let named = text.split(quoted).skip(1).filter_map(|rest| rest.split('"').next());
                let local = named.filter(|name| !name.starts_with('#') && *name != "/metrics");
                wanted.extend(local.map(|name| name.replacen("./", "/dashboard/", 1)));
            }
            seen.push(path);
        }
        assert!(seen.iter().any(|path| path.starts_with(COMMON)), "{seen:?}");
        assert!(seen.len() > 8, "{seen:?}");
    }
}
