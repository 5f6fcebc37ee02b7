//! Who may look at the dashboard, and who may act there.
//!
//! There are no passwords yet, so the dashboard is for this machine alone, and a browser on this machine is the weak spot: any page
//! of any site that somebody looks at there can send requests to `127.0.0.1`. What stands in the way of each trick:
//!
//! | trick | what stops it |
//! |---|---|
//! | asking over the network | the sender's address must be a loopback address |
//! | a proxy on this machine that passes requests on | the header fields that proxies add |
//! | a name of the attacker's that leads to 127.0.0.1 (DNS rebinding), so that its page reads the answers | `Host` must be `localhost` or a loopback address |
//! | a page of another site that sends a form or a script's request (CSRF) | a header field that only scripts of the same origin may add, and `Origin` |
//! | the dashboard in a frame under somebody else's buttons | the `frame-ancestors` of every page |

use std::net::IpAddr;

use netloom::transport::http::{Request, Response};

use super::super::web::Authority;
use super::unkept;

/// What the page says with everything that changes something. Other sites' pages may not add it without being allowed to, and
/// nobody allows them.
const FIELD: &str = "X-Netloom-Dashboard";

/// What tells that somebody else asked first.
const PROXY_FIELDS: [&str; 6] =
    ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"];

/// Refuses whoever is not on this machine, or may not be.
pub fn check_asker(request: &Request<'_>) -> Result<(), Response> {
    let is_near = request.from().is_some_and(|from| is_loopback(from.to_socket_addr().ip()));
    if !is_near || PROXY_FIELDS.iter().any(|field| request.fields().has(field)) {
        return refuse(
            "the dashboard is for the machine that the server runs on: open it there, or through `ssh -L`\n",
        );
    }
    let host = request.fields().only("Host").and_then(Authority::parse);
    if !host.is_some_and(|host| is_loopback_name(host.name)) {
        return refuse("the dashboard answers to the names localhost, 127.0.0.1 and [::1] only\n");
    }
    Ok(())
}

/// Refuses whatever is not sent by the dashboard's own page.
pub fn check_page(request: &Request<'_>) -> Result<(), Response> {
    let fields = request.fields();
    let own = fields.only("Host").map(|host| format!("http://{host}"));
    let is_own_origin =
        fields.only("Origin").zip(own).is_some_and(|(origin, own)| origin.eq_ignore_ascii_case(&own));
    let is_told_otherwise =
        fields.has("Sec-Fetch-Site") && fields.only("Sec-Fetch-Site") != Some("same-origin");
    if fields.only(FIELD) != Some("1") || !is_own_origin || is_told_otherwise {
        return refuse("only the dashboard's own page may do this\n");
    }
    Ok(())
}

fn refuse(why: &'static str) -> Result<(), Response> {
    Err(unkept(Response::text(403, why)))
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Whether a host is one that no name server decides about.
fn is_loopback_name(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse().is_ok_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "Host: 127.0.0.1:7779\r\nOrigin: http://127.0.0.1:7779\r\nX-Netloom-Dashboard: 1\r\n";

    fn check(
        rule: fn(&Request<'_>) -> Result<(), Response>,
        from: &str,
        fields: &str,
    ) -> Result<(), (u16, String)> {
        let head = format!("POST /dashboard/kick HTTP/1.1\r\n{fields}\r\n");
        let request = Request::parse(head.as_bytes()).unwrap().with(b"", from.parse().unwrap());
        rule(&request).map_err(|refusal| {
            (refusal.status(), String::from_utf8(refusal.body().as_bytes().to_vec()).unwrap())
        })
    }

    #[test]
    fn only_this_machine_may_ask() {
        for near in ["127.0.0.1:50000", "127.8.9.10:1", "[::1]:50000", "[::ffff:127.0.0.1]:50000"] {
            assert_eq!(check(check_asker, near, OWN), Ok(()), "{near}");
        }
        for far in ["192.0.2.1:50000", "[2001:db8::1]:50000", "[::ffff:192.0.2.1]:50000", "0.0.0.0:1"] {
            let (status, text) = check(check_asker, far, OWN).unwrap_err();
            assert!(status == 403 && text.contains("ssh -L"), "{far}: {status} {text}");
        }
        let unknown = Request::parse(b"GET /dashboard HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert!(check_asker(&unknown).is_err(), "who is unknown is not near");
    }

    #[test]
    fn what_a_proxy_passes_on_is_not_from_this_machine() {
        for field in PROXY_FIELDS {
            let fields = format!("{OWN}{field}: 192.0.2.1\r\n");
            assert!(check(check_asker, "127.0.0.1:1", &fields).is_err(), "{field}");
        }
    }

    #[test]
    fn a_name_that_others_decide_about_is_refused() {
        for host in ["localhost", "LOCALHOST:7779", "127.0.0.1", "[::1]:7779", "127.1.2.3:1"] {
            assert_eq!(check(check_asker, "[::1]:1", &format!("Host: {host}\r\n")), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7779",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.0.2.1:7779",
            "0.0.0.0:7779",
            "[::]:7779",
            "",
            "localhost\r\nHost: localhost",
        ] {
            assert!(check(check_asker, "127.0.0.1:1", &format!("Host: {host}\r\n")).is_err(), "{host:?}");
        }
        assert!(check(check_asker, "127.0.0.1:1", "").is_err(), "no name at all");
    }

    #[test]
    fn only_the_own_page_may_act() {
        let near = "127.0.0.1:1";
        assert_eq!(check(check_page, near, OWN), Ok(()));
        assert_eq!(check(check_page, near, &format!("{OWN}Sec-Fetch-Site: same-origin\r\n")), Ok(()));
        for wrong in [
            OWN.replace("X-Netloom-Dashboard: 1\r\n", ""),
            OWN.replace("Dashboard: 1", "Dashboard: 2"),
            OWN.replace("Origin: http://127.0.0.1:7779\r\n", ""),
            OWN.replace("Origin: http://127.0.0.1:7779", "Origin: http://127.0.0.1:7778"),
            OWN.replace("Origin: http://127.0.0.1:7779", "Origin: http://evil.example"),
            OWN.replace("Origin: http://127.0.0.1:7779", "Origin: null"),
            OWN.replace("Origin: http", "Origin: https"),
            format!("{OWN}Origin: http://127.0.0.1:7779\r\n"),
            format!("{OWN}Sec-Fetch-Site: same-site\r\n"),
            format!("{OWN}Sec-Fetch-Site: cross-site\r\n"),
        ] {
            assert!(check(check_page, near, &wrong).is_err(), "{wrong}");
        }
    }
}
