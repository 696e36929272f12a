//! The server: a page, a gallery with thumbnails, and a WebSocket for each client.

use crate::connection::{self, ConnectionLimits};
use crate::gallery::Gallery;
use crate::guard;
use crate::message::{Command, MAX_COMMAND_BYTES, Reply, overlay};
use crate::page;
use crate::session::{
    ClientId, MAX_CHANNEL_NAME, MAX_CHANNELS, Session, SessionContent, Shared, Subscription,
};
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

/// Most clients at a time.
pub const MAX_CLIENTS: usize = 16;
/// A client that takes longer to accept a message is disconnected.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a closing server waits for its clients to disconnect.
const SHUTDOWN_TIME: Duration = Duration::from_millis(500);
/// Size of the write buffer, bytes: about a frame of ten thousand bodies.
const WRITE_BUFFER: usize = 512 << 10;

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason given by the system.
        source: std::io::Error,
    },
    /// No thread could be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The system has no random numbers.
    #[error("no random numbers for a token: {0}")]
    Random(String),
}

/// Options of the server.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Address to listen on.
    pub address: IpAddr,
    /// Port; 0 for any that is free.
    pub port: u16,
    /// Whether the scene runs from the start, or waits for the play command.
    pub playing: bool,
    /// Time limits and number of connections.
    pub limits: ConnectionLimits,
}

impl Default for ServerOptions {
    /// Any free port of the loopback address, playing.
    fn default() -> Self {
        let limits = ConnectionLimits::default();
        Self { address: Ipv4Addr::LOCALHOST.into(), port: 0, playing: true, limits }
    }
}

/// State shared by all requests.
#[derive(Debug)]
struct AppState {
    session: Session,
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
/// use rattleback_viewer::{Server, ServerOptions, session::SessionContent};
/// let server = Server::start(SessionContent::Gallery, ServerOptions::default())?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// # Ok::<(), rattleback_viewer::ServerError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    app: Arc<AppState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// (content, options) ⇒ running server.
    ///
    /// # Errors
    /// The address cannot be used, or the system has no threads or random numbers.
    pub fn start(content: SessionContent, options: ServerOptions) -> Result<Self, ServerError> {
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
        let session = Session::open(content, options.playing).map_err(ServerError::Thread)?;
        let (close, closing) = watch::channel(false);
        let app = Arc::new(AppState {
            session,
            gallery: Gallery::default(),
            token,
            clients: AtomicUsize::new(0),
            next_client: AtomicU64::new(1),
            closing,
            silence: options.limits.silence,
        });
        let (stop, stopped) = oneshot::channel();
        let for_routes = Arc::clone(&app);
        let thread = std::thread::Builder::new()
            .name("server".into())
            .spawn(move || {
                runtime.block_on(async move {
                    let Ok(listener) = TcpListener::from_std(listener) else { return };
                    let closing = for_routes.closing.clone();
                    let serving = connection::serve(listener, routes(for_routes), options.limits, closing);
                    // Connections that stay open are dropped after a short wait.
                    let shutdown = async move {
                        let _ = stopped.await;
                        close.send_replace(true);
                        tokio::time::sleep(SHUTDOWN_TIME).await;
                    };
                    tokio::select! {
                        () = serving => {}
                        () = shutdown => {}
                    }
                });
                // Does not wait for a thumbnail that is being drawn.
                runtime.shutdown_background();
            })
            .map_err(ServerError::Thread)?;
        Ok(Self { address, app, stop: Some(stop), thread: Some(thread) })
    }

    /// The address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Address of the page, with the token that lets it connect.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.app.token)
    }

    /// The token that lets a page connect.
    pub fn token(&self) -> &str {
        &self.app.token
    }

    /// Clients connected now.
    pub fn clients(&self) -> usize {
        self.app.clients.load(Ordering::Relaxed)
    }

    /// The published state.
    pub fn shared(&self) -> &Arc<Shared> {
        self.app.session.shared()
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

fn routes(app: Arc<AppState>) -> Router {
    Router::new()
        .route("/socket", get(socket))
        .route("/gallery.json", get(gallery))
        .route("/thumbnail/{name}", get(thumbnail))
        .fallback(get(file))
        .with_state(app)
}

/// Body ⇒ response with headers that forbid embedding, foreign scripts and guessed media types.
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
        None => (StatusCode::NOT_FOUND, "not found").into_response(),
    }
}

async fn gallery() -> Response {
    answer("application/json", Gallery::list())
}

async fn thumbnail(State(app): State<Arc<AppState>>, Path(name): Path<String>) -> Response {
    let name = name.strip_suffix(".png").unwrap_or(&name).to_owned();
    // One at a time, and not on the thread that sends frames.
    let drawn = tokio::task::spawn_blocking(move || app.gallery.thumbnail(&name)).await;
    match drawn {
        Ok(Some(png)) => answer("image/png", png.to_vec()),
        _ => (StatusCode::NOT_FOUND, "there is no such scene").into_response(),
    }
}

async fn socket(
    State(app): State<Arc<AppState>>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if !guard::is_own_page(text(header::HOST), text(header::ORIGIN)) {
        return (StatusCode::FORBIDDEN, "only the page served here may connect").into_response();
    }
    let token = guard::query(uri.query().unwrap_or_default(), "token").unwrap_or_default();
    if !guard::same_token(token, &app.token) {
        return (StatusCode::FORBIDDEN, "the token is wrong: open the address that the program printed")
            .into_response();
    }
    let Some(connection) = Connection::open(&app) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open").into_response();
    };
    upgrade
        .max_message_size(MAX_COMMAND_BYTES)
        .max_frame_size(MAX_COMMAND_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BUFFER + (64 << 20))
        .on_upgrade(move |socket| connection.serve(socket))
}

/// The WebSocket connection of a client; counted until it is dropped.
struct Connection {
    app: Arc<AppState>,
    id: ClientId,
}

impl Connection {
    fn open(app: &Arc<AppState>) -> Option<Self> {
        let counted = app.clients.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |clients| {
            (clients < MAX_CLIENTS).then_some(clients + 1)
        });
        counted.ok()?;
        let id = app.next_client.fetch_add(1, Ordering::Relaxed);
        Some(Self { app: Arc::clone(app), id })
    }

    /// Sends frames and receives commands until the connection ends.
    async fn serve(self, mut socket: WebSocket) {
        let mut frames = self.app.session.shared().frames();
        let mut closing = self.app.closing.clone();
        let mut state = ClientState::new(self.app.session.shared());
        frames.mark_changed();
        // Browsers answer pings on their own: a live client is heard at least twice within the allowed silence.
        let mut pings = tokio::time::interval((self.app.silence / 2).max(Duration::from_millis(1)));
        pings.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                biased;
                _ = closing.changed() => return,
                _ = pings.tick() => {
                    if heard.elapsed() >= self.app.silence
                        || send(&mut socket, Message::Ping(axum::body::Bytes::new())).await.is_err()
                    {
                        return;
                    }
                }
                message = socket.recv() => {
                    let Some(Ok(message)) = message else { return };
                    heard = Instant::now();
                    if let Some(reply) = self.handle_message(message, &mut state)
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
                    let shared = self.app.session.shared();
                    let messages = state.pending(shared);
                    let began = Instant::now();
                    for message in messages {
                        if send(&mut socket, message).await.is_err() {
                            return;
                        }
                    }
                    average(&mut shared.view().cost.send, began);
                }
            }
        }
    }

    /// Executes or forwards a command ⇒ reply, if there is one.
    fn handle_message(&self, message: Message, state: &mut ClientState) -> Option<String> {
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
        let session = &self.app.session;
        match command {
            Command::Show { overlays, level } => {
                (state.subscription.overlays, state.subscription.level) = (overlay::bits(&overlays), level);
            }
            Command::Watch { body } => {
                state.subscription.body = body;
                state.report = 0;
            }
            Command::Plot { channels } => {
                let fits = |name: &String| !name.is_empty() && name.len() <= MAX_CHANNEL_NAME;
                state.subscription.channels = channels.into_iter().filter(fits).take(MAX_CHANNELS).collect();
            }
            command => {
                return session.request(self.id, command).err().map(|error| Reply::Error(error).text());
            }
        }
        session.shared().view().subscriptions.insert(self.id, state.subscription.clone());
        None
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.app.session.forget(self.id);
        self.app.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a client has been sent, and its subscription.
#[derive(Debug, Default)]
struct ClientState {
    epoch: u32,
    /// The announcement itself: choosing another simulator announces anew within an epoch.
    announced: Option<Arc<str>>,
    frame: u32,
    subscription: Subscription,
    report: u32,
    notice: u64,
    greeted: bool,
}

impl ClientState {
    /// State of a new client. It is not sent old notices, unless no scene could be loaded: then they contain the reason.
    fn new(shared: &Shared) -> Self {
        let view = shared.view();
        let notice = if view.announcement.is_some() { view.notices_after(u64::MAX).1 } else { 0 };
        Self { notice, ..Self::default() }
    }

    /// Messages to send now.
    fn pending(&mut self, shared: &Shared) -> Vec<Message> {
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
            self.subscription.body = None;
            self.announced = Some(Arc::clone(&announcement.text));
            messages.push(Message::Text(announcement.text.to_string().into()));
            messages.push(Message::Binary(announcement.geometry.to_vec().into()));
        } else if self.announced.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &announcement.text)) {
            self.announced = Some(Arc::clone(&announcement.text));
            messages.push(Message::Text(announcement.text.to_string().into()));
        }
        let began = Instant::now();
        messages.push(Message::Binary(view.frame(self.frame, &self.subscription).into()));
        average(&mut view.cost.encode, began);
        self.frame = view.head.frame;
        if let Some((frame, text)) = self.subscription.body.and_then(|body| view.reports.get(&body))
            && *frame != self.report
        {
            self.report = *frame;
            messages.push(Message::Text(text.to_string().into()));
        }
        messages
    }
}

/// Updates an exponential average by the time since an instant, s.
fn average(average: &mut f64, since: Instant) {
    *average += 0.1 * (since.elapsed().as_secs_f64() - *average);
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), ()> {
    match tokio::time::timeout(SEND_TIMEOUT, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(()),
    }
}
