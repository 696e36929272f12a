//! Access control: which pages may connect to the server.
//!
//! Any page in the user's browser can open a connection to the loopback address. A WebSocket must therefore name the server's own
//! address as its origin (an IP address or `localhost`, against DNS rebinding) and present a token that only the page served here has.

use std::net::IpAddr;

/// 128 random bits in hexadecimal digits.
pub fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Whether two tokens are equal, compared in constant time.
pub fn same_token(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Value of a key in the query of an address.
pub fn query<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

/// Whether a host is an IP address or `localhost`, and not a name that a foreign DNS server resolves.
fn is_literal(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    bare == "localhost" || bare.parse::<IpAddr>().is_ok()
}

/// (Host header, Origin header) ⇒ whether the requesting page was served here.
pub fn is_own_page(host: Option<&str>, origin: Option<&str>) -> bool {
    let (Some(host), Some(origin)) = (host, origin) else { return false };
    is_literal(host) && origin.strip_prefix("http://") == Some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_served_here_may_connect() {
        assert!(is_own_page(Some("127.0.0.1:8080"), Some("http://127.0.0.1:8080")));
        assert!(is_own_page(Some("localhost:8080"), Some("http://localhost:8080")));
        assert!(is_own_page(Some("[::1]:8080"), Some("http://[::1]:8080")));
        for (host, origin) in [
            (Some("127.0.0.1:8080"), Some("http://evil.example")),
            (Some("127.0.0.1:8080"), Some("http://127.0.0.1:8081")),
            (Some("127.0.0.1:8080"), Some("https://127.0.0.1:8080")),
            (Some("127.0.0.1:8080"), Some("null")),
            (Some("127.0.0.1:8080"), None),
            (None, Some("http://127.0.0.1:8080")),
            // A foreign name that resolves to the loopback address.
            (Some("evil.example:8080"), Some("http://evil.example:8080")),
        ] {
            assert!(!is_own_page(host, origin), "{host:?} {origin:?}");
        }
    }

    #[test]
    fn tokens_are_random_and_compared_whole() {
        let (a, b) = (token().unwrap(), token().unwrap());
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
        assert!(same_token(&a, &a) && !same_token(&a, &b) && !same_token(&a, &a[1..]) && !same_token("", &a));
        assert_eq!(query("x=1&token=abc", "token"), Some("abc"));
        assert_eq!(query("tokens=1", "token"), None);
    }
}
