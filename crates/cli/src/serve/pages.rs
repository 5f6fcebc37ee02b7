//! The pages in this program, and how they are answered with: for HTTP of the port that browsers open their WebSocket on.

use netloom::transport::http::{Request, Response};

/// What a page may do: run scripts of this server, and connect to where games are.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; media-src 'self'; manifest-src 'self'; worker-src 'self'; connect-src 'self' ws: wss: https:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// A file, as the build script found it.
struct Page {
    path: &'static str,
    content_type: &'static str,
    /// The hash of its content.
    tag: &'static str,
    plain: &'static [u8],
    /// The same packed by gzip, if that is shorter.
    packed: Option<&'static [u8]>,
}

/// All of them, by path.
const PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The answer to a request for a page, on a server of a game; `None` if there is none with this path.
pub fn answer(game: &str, request: &Request<'_>) -> Option<Response> {
    find(game, request.path()).map(|page| page.answer(request))
}

/// A page by its path. The page of the game that is served is the first one.
fn find(game: &str, path: &str) -> Option<&'static Page> {
    let is_asked_for = |page: &&Page| match path {
        "/" => page.path.strip_prefix('/').and_then(|path| path.strip_suffix('/')) == Some(game),
        path => page.path == path,
    };
    PAGES.iter().find(is_asked_for)
}

impl Page {
    fn answer(&self, request: &Request<'_>) -> Response {
        let packed = self.packed.filter(|_| accepts_gzip(request));
        // Other bytes under the same path have another tag.
        let tag = format!("\"{}{}\"", self.tag, if packed.is_some() { "-gz" } else { "" });
        let response = match is_known(request, &tag) {
            true => Response::empty(304),
            false => Response::new(200, self.content_type, packed.unwrap_or(self.plain)),
        };
        let response = match packed {
            Some(_) if response.status() == 200 => response.with_field("Content-Encoding", "gzip"),
            _ => response,
        };
        let response = match self.content_type.starts_with("text/html") {
            true => response
                .with_field("Content-Security-Policy", CONTENT_SECURITY_POLICY)
                .with_field("Cross-Origin-Opener-Policy", "same-origin"),
            false => response,
        };
        response
            .with_field("ETag", tag)
            // Names stay and contents change: a copy is good after a question.
            .with_field("Cache-Control", "no-cache")
            .with_field("Vary", "Accept-Encoding")
            .with_field("Cross-Origin-Resource-Policy", "same-origin")
            .with_field("Referrer-Policy", "no-referrer")
    }
}

/// Whether the asker unpacks gzip.
fn accepts_gzip(request: &Request<'_>) -> bool {
    let mut codings = request.fields().all("Accept-Encoding").flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map(|weight| weight.parse::<f32>());
        is_gzip && !matches!(weight, Some(Ok(0.0) | Err(_)))
    })
}

/// Whether the asker has these bytes already.
fn is_known(request: &Request<'_>, tag: &str) -> bool {
    let mut tags = request.fields().all("If-None-Match").flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn ask(path: &str, fields: &str) -> Option<Response> {
        let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        answer("cubes", &Request::parse(head.as_bytes()).unwrap())
    }

    fn field<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
        response.fields().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    #[test]
    fn every_page_has_its_type_and_may_run_no_script_but_its_own() {
        let index = ask("/", "").unwrap();
        assert_eq!((index.status(), field(&index, "Cache-Control")), (200, Some("no-cache")));
        let policy = field(&index, "Content-Security-Policy").unwrap();
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        assert!(index.body().as_bytes().starts_with(b"<!doctype html>"));
        for page in PAGES {
            assert!(!page.plain.is_empty() && page.path.starts_with('/'), "{}", page.path);
            let is_script = page.path.ends_with(".js");
            assert_eq!(page.content_type.starts_with("text/javascript"), is_script, "{}", page.path);
            assert!(!page.path.starts_with("/netloom/node/"));
        }
    }

    #[test]
    fn the_page_of_the_game_that_is_served_is_the_first() {
        for (game, title) in
            [("cubes", "<title>Netloom: the yard</title>"), ("rtype", "<title>Netloom: R-Type</title>")]
        {
            let first = find(game, "/").unwrap();
            assert!(std::str::from_utf8(first.plain).unwrap().contains(title), "{game}");
            assert_eq!(first.path, format!("/{game}/"));
        }
        assert!(find("chess", "/").is_none());
    }

    #[test]
    fn parts_that_pages_share_are_in_them_and_cannot_be_asked_for_alone() {
        for game in ["cubes", "rtype"] {
            let text = std::str::from_utf8(find(game, "/").unwrap().plain).unwrap();
            assert!(!text.contains("include"), "{game}");
            for id in ["lab", "chat-lines", "graphs", "curtain"] {
                assert_eq!(text.matches(&format!(" id=\"{id}\"")).count(), 1, "{game} has {id}");
            }
        }
        assert!(PAGES.iter().all(|page| !page.path.ends_with(".html")));
    }

    #[test]
    fn pages_have_no_script_and_no_style_inside_which_the_policy_would_block() {
        let html = PAGES.iter().filter(|page| page.content_type.starts_with("text/html"));
        for page in html {
            let text = std::str::from_utf8(page.plain).unwrap();
            for script in text.split("<script").skip(1) {
                assert!(script.split('>').next().unwrap().contains("src="), "{}", page.path);
            }
            assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains(" onclick="));
        }
    }

    #[test]
    fn only_what_is_in_the_table_can_be_asked_for() {
        for path in [
            "/index.html/",
            "/../Cargo.toml",
            "/%2e%2e/Cargo.toml",
            "//",
            "/netloom/../page.js",
            "/common/lab.html",
        ] {
            assert!(ask(path, "").is_none(), "{path}");
        }
    }

    #[test]
    fn packed_bytes_go_to_those_who_unpack_them_and_unpack_to_the_plain_ones() {
        let page = find("cubes", "/").unwrap();
        let mut unpacked = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(page.packed.expect("the first page is worth packing"));
        decoder.read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, page.plain);
        for (fields, is_packed) in [
            ("", false),
            ("Accept-Encoding: gzip, deflate, br\r\n", true),
            ("Accept-Encoding: br;q=1.0, GZIP;q=0.8\r\n", true),
            ("Accept-Encoding: gzip;q=0\r\n", false),
            ("Accept-Encoding: gzip; q=0.0, br\r\n", false),
            ("Accept-Encoding: br\r\n", false),
        ] {
            let response = ask("/", fields).unwrap();
            assert_eq!(field(&response, "Content-Encoding"), is_packed.then_some("gzip"), "{fields}");
            assert_eq!(response.body().as_bytes().starts_with(&[0x1f, 0x8b]), is_packed, "{fields}");
            assert_eq!(field(&response, "Vary"), Some("Accept-Encoding"));
        }
    }

    #[test]
    fn who_has_it_is_told_so() {
        for encoding in ["", "Accept-Encoding: gzip\r\n"] {
            let tag = field(&ask("/", encoding).unwrap(), "ETag").unwrap().to_owned();
            for known in [tag.clone(), format!("\"x\", W/{tag}"), String::from("*")] {
                let response = ask("/", &format!("{encoding}If-None-Match: {known}\r\n")).unwrap();
                assert_eq!((response.status(), response.body().as_bytes().len()), (304, 0), "{known}");
                assert_eq!(field(&response, "ETag"), Some(&*tag));
            }
            let other = ask("/", &format!("{encoding}If-None-Match: \"x\"\r\n")).unwrap();
            assert_eq!(other.status(), 200);
        }
        let plain = field(&ask("/", "").unwrap(), "ETag").unwrap().to_owned();
        let packed = ask("/", &format!("Accept-Encoding: gzip\r\nIf-None-Match: {plain}\r\n")).unwrap();
        assert_eq!(packed.status(), 200, "other bytes");
    }
}
