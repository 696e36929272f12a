//! HTTP connections: their number and time limits.
//!
//! A connection that sends nothing, an incomplete request, or does not read the response must not be held for ever. A request has a
//! time limit, a connection that does not become a WebSocket has a longer one, and beyond a number of connections new ones are closed
//! at once.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Time limits and number of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Longest time from the beginning of a connection, or from the previous response, until the head of a request has arrived.
    pub request: Duration,
    /// Longest duration of a connection that does not become a WebSocket.
    pub connection: Duration,
    /// A WebSocket that has sent nothing for this long, not even the answer to a ping, is closed.
    pub silence: Duration,
    /// Most connections at a time, WebSockets not counted.
    pub connections: usize,
}

impl Default for ConnectionLimits {
    /// 10 s for a request, two minutes for a connection, one minute of silence, 64 connections.
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            connection: Duration::from_mins(2),
            silence: Duration::from_mins(1),
            connections: 64,
        }
    }
}

/// Longest head of a request, bytes.
const MAX_HEAD: usize = 16 << 10;
/// Pause after the system refused a connection, most likely because of too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until `closing` becomes true, then until open requests are answered.
pub async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: ConnectionLimits,
    mut closing: watch::Receiver<bool>,
) {
    let mut open = JoinSet::new();
    let for_connections = closing.clone();
    loop {
        tokio::select! {
            () = closed(&mut closing) => break,
            Some(_) = open.join_next(), if !open.is_empty() => {}
            accepted = listener.accept() => match accepted {
                // A connection beyond the limit is closed by dropping it.
                Ok(_) if open.len() >= limits.connections => {}
                Ok((stream, _)) => {
                    open.spawn(serve_connection(stream, routes.clone(), limits, for_connections.clone()));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
        }
    }
    while open.join_next().await.is_some() {}
}

/// Waits until the server closes.
async fn closed(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|closed| *closed).await;
}

/// Answers the requests of one connection.
async fn serve_connection(
    stream: TcpStream,
    routes: Router,
    limits: ConnectionLimits,
    mut closing: watch::Receiver<bool>,
) {
    // Small frames are sent at once.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request)
        .max_header_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes))
        .with_upgrades();
    tokio::pin!(connection);
    let whole = async {
        tokio::select! {
            _ = &mut connection => return,
            () = closed(&mut closing) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    };
    // After the time limit the connection is dropped; the client gets no message.
    let _ = tokio::time::timeout(limits.connection, whole).await;
}
