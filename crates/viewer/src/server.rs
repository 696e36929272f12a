//! The server: a page, a gallery with thumbnails, and a WebSocket for each client.

use crate::connection::{self, ConnectionLimits};
use crate::gallery::Gallery;
use crate::guard;
use crate::message::{Command, MAX_COMMAND_BYTES, Reply, layer};
use crate::page;
use crate::theatre::{ClientId, MAX_CHANNEL_NAME, MAX_CHANNELS, Program, Shared, Theatre, Wish};
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

/// Onlookers at a time.
pub const MAX_CLIENTS: usize = 16;
/// A client that takes longer to accept a message is let go.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a closing server waits for its clients to leave.
const FAREWELL: Duration = Duration::from_millis(500);
/// Bytes that may wait in a socket before sending waits: about a frame of ten thousand bodies.
const WRITE_BUFFER: usize = 512 << 10;

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The system gives no thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The system gives no random numbers.
    #[error("no random numbers for a token: {0}")]
    Random(String),
}

/// How to serve.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Address to listen on.
    pub address: IpAddr,
    /// Port; 0 for any that is free.
    pub port: u16,
    /// Whether the stage plays without being told to.
    pub playing: bool,
    /// How long clients may take, and how many there may be.
    pub limits: ConnectionLimits,
}

impl Default for ServerOptions {
    /// Any free port of the loopback address, playing.
    fn default() -> Self {
        let limits = ConnectionLimits::default();
        Self { address: Ipv4Addr::LOCALHOST.into(), port: 0, playing: true, limits }
    }
}

/// What requests share.
#[derive(Debug)]
struct House {
    theatre: Theatre,
    gallery: Gallery,
    token: String,
    clients: AtomicUsize,
    next_client: AtomicU64,
    closing: watch::Receiver<bool>,
    silence: Duration,
}

/// A server that runs until it is dropped.
///
/// ```
/// use rattleback_viewer::{Server, ServerOptions, theatre::Program};
/// let server = Server::start(Program::Gallery, ServerOptions::default())?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// # Ok::<(), rattleback_viewer::ServerError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    house: Arc<House>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// (what is on, how) ⇒ running server.
    pub fn start(program: Program, options: ServerOptions) -> Result<Self, ServerError> {
        let token = guard::token().map_err(|error| ServerError::Random(error.to_string()))?;
        let wanted = SocketAddr::new(options.address, options.port);
        let listen = |source| ServerError::Listen { address: wanted, source };
        let listener = std::net::TcpListener::bind(wanted).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(1)
            .build()
            .map_err(ServerError::Thread)?;
        let theatre = Theatre::open(program, options.playing).map_err(ServerError::Thread)?;
        let (close, closing) = watch::channel(false);
        let house = Arc::new(House {
            theatre,
            gallery: Gallery::default(),
            token,
            clients: AtomicUsize::new(0),
            next_client: AtomicU64::new(1),
            closing,
            silence: options.limits.silence,
        });
        let (stop, stopped) = oneshot::channel();
        let for_routes = Arc::clone(&house);
        let thread = std::thread::Builder::new()
            .name("server".into())
            .spawn(move || {
                runtime.block_on(async move {
                    let Ok(listener) = TcpListener::from_std(listener) else { return };
                    let closing = for_routes.closing.clone();
                    let serving = connection::serve(listener, routes(for_routes), options.limits, closing);
                    // A connection that stays open is not waited for long.
                    let farewell = async move {
                        let _ = stopped.await;
                        close.send_replace(true);
                        tokio::time::sleep(FAREWELL).await;
                    };
                    tokio::select! {
                        () = serving => {}
                        () = farewell => {}
                    }
                });
                // A thumbnail that is being drawn is not waited for.
                runtime.shutdown_background();
            })
            .map_err(ServerError::Thread)?;
        Ok(Self { address, house, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Address of the page, with the token that lets it connect.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.house.token)
    }

    /// The token that lets a page connect.
    pub fn token(&self) -> &str {
        &self.house.token
    }

    /// Clients connected now.
    pub fn clients(&self) -> usize {
        self.house.clients.load(Ordering::Relaxed)
    }

    /// What clients see.
    pub fn shared(&self) -> &Arc<Shared> {
        self.house.theatre.shared()
    }

    /// Whether the program has the page in it.
    pub const fn has_page() -> bool {
        page::is_built()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn routes(house: Arc<House>) -> Router {
    Router::new()
        .route("/socket", get(socket))
        .route("/gallery.json", get(gallery))
        .route("/thumbnail/{name}", get(thumbnail))
        .fallback(get(file))
        .with_state(house)
}

/// What no answer of ours needs: frames, foreign scripts, guesses of types.
fn answer(media_type: &'static str, body: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' ws:; \
             frame-ancestors 'none'",
        ),
    ];
    (headers, body.into()).into_response()
}

async fn file(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    match page::file(path) {
        Some(file) => answer(file.media_type, file.bytes),
        None if path.is_empty() && !page::is_built() => answer("text/html; charset=utf-8", page::MISSING),
        None => (StatusCode::NOT_FOUND, "there is nothing here").into_response(),
    }
}

async fn gallery() -> Response {
    answer("application/json", Gallery::list())
}

async fn thumbnail(State(house): State<Arc<House>>, Path(name): Path<String>) -> Response {
    let name = name.strip_suffix(".png").unwrap_or(&name).to_owned();
    // One at a time, and never on the thread that sends frames.
    let drawn = tokio::task::spawn_blocking(move || house.gallery.thumbnail(&name)).await;
    match drawn {
        Ok(Some(png)) => answer("image/png", png.to_vec()),
        _ => (StatusCode::NOT_FOUND, "there is no such scene").into_response(),
    }
}

async fn socket(
    State(house): State<Arc<House>>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if !guard::is_own_page(text(header::HOST), text(header::ORIGIN)) {
        return (StatusCode::FORBIDDEN, "only the page served here may connect").into_response();
    }
    let token = guard::query(uri.query().unwrap_or_default(), "token").unwrap_or_default();
    if !guard::same_token(token, &house.token) {
        return (StatusCode::FORBIDDEN, "the token is wrong: open the address that the program printed")
            .into_response();
    }
    let Some(seat) = Seat::take(&house) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open").into_response();
    };
    upgrade
        .max_message_size(MAX_COMMAND_BYTES)
        .max_frame_size(MAX_COMMAND_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BUFFER + (64 << 20))
        .on_upgrade(move |socket| seat.watch(socket))
}

/// A client's place; given back when dropped, however the connection ends.
struct Seat {
    house: Arc<House>,
    id: ClientId,
}

impl Seat {
    fn take(house: &Arc<House>) -> Option<Self> {
        let taken = house.clients.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |clients| {
            (clients < MAX_CLIENTS).then_some(clients + 1)
        });
        taken.ok()?;
        let id = house.next_client.fetch_add(1, Ordering::Relaxed);
        Some(Self { house: Arc::clone(house), id })
    }

    /// Sends frames and takes commands until the client goes.
    async fn watch(self, mut socket: WebSocket) {
        let mut frames = self.house.theatre.shared().frames();
        let mut closing = self.house.closing.clone();
        let mut seen = Seen::arriving(self.house.theatre.shared());
        frames.mark_changed();
        // Browsers answer pings by themselves: one that is there is heard twice within the time of silence allowed.
        let mut pings = tokio::time::interval((self.house.silence / 2).max(Duration::from_millis(1)));
        pings.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                biased;
                _ = closing.changed() => return,
                _ = pings.tick() => {
                    if heard.elapsed() >= self.house.silence
                        || send(&mut socket, Message::Ping(axum::body::Bytes::new())).await.is_err()
                    {
                        return;
                    }
                }
                message = socket.recv() => {
                    let Some(Ok(message)) = message else { return };
                    heard = Instant::now();
                    if let Some(reply) = self.hear(message, &mut seen)
                        && send(&mut socket, Message::Text(reply.into())).await.is_err()
                    {
                        return;
                    }
                }
                changed = frames.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    frames.mark_unchanged();
                    let shared = self.house.theatre.shared();
                    let news = seen.news(shared);
                    let began = Instant::now();
                    for message in news {
                        if send(&mut socket, message).await.is_err() {
                            return;
                        }
                    }
                    average(&mut shared.view().post.send, began);
                }
            }
        }
    }

    /// Message of a client ⇒ what to answer, if anything.
    fn hear(&self, message: Message, seen: &mut Seen) -> Option<String> {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                return Some(Reply::Error("commands are JSON texts, not binary messages").text());
            }
            _ => return None,
        };
        let command = match serde_json::from_str::<Command>(&text) {
            Ok(command) => command,
            Err(error) => return Some(Reply::Error(&format!("not a command: {error}")).text()),
        };
        let theatre = &self.house.theatre;
        match command {
            Command::Show { layers, level } => {
                (seen.wish.layers, seen.wish.level) = (layer::bits(&layers), level);
            }
            Command::Watch { body } => {
                seen.wish.body = body;
                seen.report = 0;
            }
            Command::Plot { channels } => {
                let fits = |name: &String| !name.is_empty() && name.len() <= MAX_CHANNEL_NAME;
                seen.wish.channels = channels.into_iter().filter(fits).take(MAX_CHANNELS).collect();
            }
            command => return theatre.order(self.id, command).err().map(|error| Reply::Error(error).text()),
        }
        theatre.shared().view().wishes.insert(self.id, seen.wish.clone());
        None
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.house.theatre.forget(self.id);
        self.house.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a client has seen, and what it wants to see.
#[derive(Debug, Default)]
struct Seen {
    epoch: u32,
    /// The announcement itself, because another simulator is announced within an epoch.
    announced: Option<Arc<str>>,
    frame: u32,
    wish: Wish,
    report: u32,
    notice: u64,
    greeted: bool,
}

impl Seen {
    /// Old notices are about what others did, unless there is nothing to see because of them.
    fn arriving(shared: &Shared) -> Self {
        let view = shared.view();
        let notice = if view.announcement.is_some() { view.notices_after(u64::MAX).1 } else { 0 };
        Self { notice, ..Self::default() }
    }

    /// What there is to send.
    fn news(&mut self, shared: &Shared) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut view = shared.view();
        let view = &mut *view;
        let (notices, last) = view.notices_after(self.notice);
        self.notice = last;
        messages.extend(notices.iter().map(|text| Message::Text(Reply::Notice(text).text().into())));
        let Some(announcement) = &view.announcement else {
            if !self.greeted {
                self.greeted = true;
                messages.push(Message::Text(r#"{"gallery":true}"#.into()));
            }
            return messages;
        };
        if view.head.epoch != self.epoch {
            self.epoch = view.head.epoch;
            self.frame = 0;
            self.wish.body = None;
            self.announced = Some(Arc::clone(&announcement.text));
            messages.push(Message::Text(announcement.text.to_string().into()));
            messages.push(Message::Binary(announcement.cast.to_vec().into()));
        } else if self.announced.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &announcement.text)) {
            self.announced = Some(Arc::clone(&announcement.text));
            messages.push(Message::Text(announcement.text.to_string().into()));
        }
        let began = Instant::now();
        messages.push(Message::Binary(view.frame(self.frame, &self.wish).into()));
        average(&mut view.post.encode, began);
        self.frame = view.head.frame;
        if let Some((frame, text)) = self.wish.body.and_then(|body| view.reports.get(&body))
            && *frame != self.report
        {
            self.report = *frame;
            messages.push(Message::Text(text.to_string().into()));
        }
        messages
    }
}

/// Takes the time since then into an average, s.
fn average(average: &mut f64, since: Instant) {
    *average += 0.1 * (since.elapsed().as_secs_f64() - *average);
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), ()> {
    match tokio::time::timeout(PATIENCE, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(()),
    }
}
