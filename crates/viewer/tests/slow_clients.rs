//! Clients that send nothing or an incomplete request, or do not read: their connections end. Loopback only.

use rattleback_viewer::session::SessionContent;
use rattleback_viewer::{ConnectionLimits, Server, ServerOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;

const LIMITS: ConnectionLimits = ConnectionLimits {
    request: Duration::from_millis(300),
    connection: Duration::from_millis(1500),
    silence: Duration::from_millis(600),
    connections: 8,
};

fn server() -> Server {
    Server::start(SessionContent::Gallery, ServerOptions { limits: LIMITS, ..ServerOptions::default() })
        .unwrap()
}

/// Reads until the server closes the connection ⇒ the response, and how long that took.
fn closed(mut stream: TcpStream) -> (String, Duration) {
    let began = Instant::now();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut received = Vec::new();
    if let Err(error) = stream.read_to_end(&mut received) {
        let waiting = [std::io::ErrorKind::WouldBlock, std::io::ErrorKind::TimedOut];
        assert!(!waiting.contains(&error.kind()), "still open after {:?}", began.elapsed());
    }
    (String::from_utf8_lossy(&received).into_owned(), began.elapsed())
}

fn send(server: &Server, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

fn get(server: &Server, path: &str) -> String {
    closed(send(server, &format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))).0
}

#[test]
fn requests_half_sent_are_not_waited_for() {
    let server = server();
    for half in [
        "",
        "G",
        "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\nx",
        "POST /socket HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
        "GET /socket HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n",
        // Whole, but the next one does not come.
        "GET /gallery.json HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        closed(send(&server, half));
    }
    assert!(get(&server, "/gallery.json").contains("200 OK"));
}

/// A byte now and then does not keep a request alive.
#[test]
fn requests_that_trickle_are_not_waited_for() {
    let server = server();
    let mut stream = send(&server, "GET / HTTP/1.1\r\nx: ");
    let began = Instant::now();
    while stream.write_all(b"a").is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20), "still open");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_head_without_end_is_refused() {
    let server = server();
    let long = "x: y\r\n".repeat(100_000);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let _ = stream.write_all(format!("GET / HTTP/1.1\r\n{long}").as_bytes());
    assert!(!closed(stream).0.contains("200 OK"));
}

/// Connections beyond the limit are closed at once; after others end, new ones are accepted.
#[test]
fn connections_are_counted() {
    let server = server();
    let open: Vec<TcpStream> = (0..4 * LIMITS.connections).map(|_| send(&server, "GET")).collect();
    for stream in open {
        closed(stream);
    }
    assert!(get(&server, "/gallery.json").contains("200 OK"));
}

/// A client that does not answer pings is disconnected, one that does is kept.
#[test]
fn silent_sockets_are_closed() {
    let server = server();
    let connect = || {
        let address = server.address();
        let stream = TcpStream::connect(address).unwrap();
        let mut request =
            format!("ws://{address}/socket?token={}", server.token()).into_client_request().unwrap();
        request.headers_mut().insert("origin", format!("http://{address}").parse().unwrap());
        tungstenite::client(request, stream).unwrap().0
    };
    let silent = connect();
    let mut lively = connect();
    lively.get_mut().set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let began = Instant::now();
    while server.clients() > 1 || began.elapsed() < 4 * LIMITS.silence {
        assert!(began.elapsed() < Duration::from_secs(20), "{} clients", server.clients());
        // Reading answers pings.
        let _ = lively.read();
    }
    assert_eq!(server.clients(), 1);
    drop(silent);
}

/// An incomplete WebSocket frame counts as silence.
#[test]
fn half_a_frame_is_not_waited_for() {
    let server = server();
    let address = server.address();
    let token = server.token();
    let mut stream = send(
        &server,
        &format!(
            "GET /socket?token={token} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        ),
    );
    // A masked text of 100 bytes, of which three come.
    stream.write_all(&[0x81, 0x80 | 0x64, 1, 2, 3, 4, 9, 9, 9]).unwrap();
    assert!(closed(stream).0.contains("101 Switching Protocols"));
    let began = Instant::now();
    while server.clients() > 0 {
        assert!(began.elapsed() < Duration::from_secs(20), "{} clients", server.clients());
        std::thread::sleep(Duration::from_millis(10));
    }
}
