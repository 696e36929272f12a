//! Connections: how many there may be, and how long each may take.
//!
//! Whoever connects and says nothing, or only half of something, or does not take the answer, must not keep a place for ever. A
//! request has to arrive within a time, a connection that does not become a WebSocket ends after a longer one, and beyond a number of
//! connections new ones are closed at once.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a server waits for clients, and for how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// From the beginning of a connection, or the answer before, until the head of a request has arrived.
    pub request: Duration,
    /// Longest life of a connection that does not become a WebSocket.
    pub connection: Duration,
    /// A WebSocket that has said nothing for so long, not even in answer to a ping, is closed.
    pub silence: Duration,
    /// Connections at a time, WebSockets not counted.
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
/// How long to wait after the system refused a connection: most likely there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until told to close, then until the open requests are answered.
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
                // One too many is closed by being dropped.
                Ok(_) if open.len() >= limits.connections => {}
                Ok((stream, _)) => {
                    open.spawn(converse(stream, routes.clone(), limits, for_connections.clone()));
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
async fn converse(
    stream: TcpStream,
    routes: Router,
    limits: ConnectionLimits,
    mut closing: watch::Receiver<bool>,
) {
    // Frames are small and must not wait for the next one.
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
    // A client that is late has lost its connection; the error has no recipient.
    let _ = tokio::time::timeout(limits.connection, whole).await;
}
