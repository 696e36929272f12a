//! Benchmark of the frame stream: a client on this machine that reads as fast as it can.

use crate::message::Head;
use crate::server::{Server, ServerError, ServerOptions};
use crate::session::SessionContent;
use glam::DVec3;
use rattleback_dynamics::{Body, Error, Properties, Registry, Value, World};
use rattleback_geometry::Shape;
use rattleback_scene::BuiltScene;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, client};

/// Why the measurement failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The world could not be built.
    #[error(transparent)]
    World(#[from] Error),
    /// The server did not start.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The connection broke.
    #[error("the stream broke off: {0}")]
    Stream(String),
}

/// What the client received.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Bodies in the world.
    pub bodies: usize,
    /// Frames in a second.
    pub frames_per_second: f64,
    /// Bodies whose pose was in a frame, on average.
    pub moved_per_frame: f64,
    /// Megabytes in a second.
    pub megabytes_per_second: f64,
    /// Steps in a second, of 1/60 s each.
    pub steps_per_second: f64,
    /// Longest time between two frames, ms.
    pub longest_gap_ms: f64,
    /// Processor time of the simulating thread per frame, ms; it depends less on other load than the frame rate does. None where the
    /// system does not report it.
    pub player_ms: Option<f64>,
    /// Processor time of the sending thread per frame, ms.
    pub server_ms: Option<f64>,
}

/// Processor time of a thread of this program by name, s. Linux counts in hundredths of a second.
fn processor_time(name: &str) -> Option<f64> {
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).ok();
        if read("comm")?.trim() == name {
            let stat = read("stat")?;
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
            let ticks = || fields.next()?.parse::<f64>().ok();
            return Some(0.01 * std::iter::repeat_with(ticks).take(2).sum::<Option<f64>>()?);
        }
    }
    None
}

/// (bodies, seconds, threads of the simulator) ⇒ what a client receives while spheres and boxes fall onto a heap in real time.
///
/// # Errors
/// The server cannot start, or the connection breaks.
pub fn stream(bodies: usize, seconds: f64, threads: u32) -> Result<Stream, MeasureError> {
    let mut built = heap(bodies)?;
    let properties = Properties::from([("threads".into(), Value::Int(threads.into()))]);
    built.simulator = Registry::default().simulators.make("realtime", &properties).map_err(Error::from)?;
    let server = Server::start(SessionContent::Built(Box::new(built)), ServerOptions::default())?;
    watch(&server, bodies, Duration::from_secs_f64(seconds.clamp(0.1, 600.0)))
}

/// Connects to a server ⇒ socket.
fn connect(server: &Server) -> Result<tungstenite::WebSocket<std::net::TcpStream>, MeasureError> {
    let broken = |error: &dyn std::fmt::Display| MeasureError::Stream(error.to_string());
    let address = server.address();
    let stream = std::net::TcpStream::connect(address).map_err(|error| broken(&error))?;
    stream.set_nodelay(true).map_err(|error| broken(&error))?;
    let mut request = format!("ws://{address}/socket?token={}", server.token())
        .into_client_request()
        .map_err(|error| broken(&error))?;
    let origin = format!("http://{address}").parse().map_err(|error| broken(&error))?;
    request.headers_mut().insert("origin", origin);
    client(request, stream).map(|(socket, _)| socket).map_err(|error| broken(&error))
}

fn watch(server: &Server, bodies: usize, time: Duration) -> Result<Stream, MeasureError> {
    let mut socket = connect(server)?;
    let (mut frames, mut bytes, mut moved, mut gap) = (0u64, 0usize, 0u64, Duration::ZERO);
    let (mut began, mut last): (Option<Instant>, Instant) = (None, Instant::now());
    let mut steps = (0u32, 0u32);
    let clocks = || [processor_time("player"), processor_time("server")];
    let mut before = clocks();
    loop {
        let message = socket.read().map_err(|error| MeasureError::Stream(error.to_string()))?;
        let Message::Binary(data) = message else { continue };
        let word = |at: usize| {
            data.get(4 * at..4 * at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
        };
        if word(0) != 1 {
            continue;
        }
        let now = Instant::now();
        // The first frame has all bodies; the measurement begins with the second.
        let Some(start) = began else {
            (began, last, steps) = (Some(now), now, (word(18), word(18)));
            before = clocks();
            continue;
        };
        gap = gap.max(now - last);
        last = now;
        frames += 1;
        bytes += data.len();
        moved += u64::from(word(Head::WORDS + 1));
        steps.1 = word(18);
        if now - start >= time {
            let seconds = (now - start).as_secs_f64();
            let after = clocks();
            let cost = |k: usize| Some((after[k]? - before[k]?) * 1e3 / frames as f64);
            return Ok(Stream {
                bodies,
                frames_per_second: frames as f64 / seconds,
                moved_per_frame: moved as f64 / frames as f64,
                megabytes_per_second: bytes as f64 / seconds / 1e6,
                steps_per_second: f64::from(steps.1 - steps.0) / seconds,
                longest_gap_ms: gap.as_secs_f64() * 1e3,
                player_ms: cost(0),
                server_ms: cost(1),
            });
        }
    }
}

/// Layers of bodies at the beginning.
const LEVELS: f64 = 2.0;

/// Spheres and boxes in columns above a floor, each displaced a little from the one below, so that they tumble.
///
/// # Errors
/// A body that the world refuses.
pub fn heap(bodies: usize) -> Result<BuiltScene, Error> {
    let mut world = World::default();
    let shape = |result: Result<Shape, _>| result.map_err(|error: rattleback_geometry::ShapeError| error);
    world.add_body(Body::fixed().with_shape(shape(Shape::half_space(DVec3::Z))?))?;
    let side = ((bodies as f64 / LEVELS).sqrt().ceil() as usize).max(1);
    let (ball, cube) = (shape(Shape::sphere(0.25))?, shape(Shape::cuboid(DVec3::splat(0.22)))?);
    for n in 0..bodies {
        let (column, level) = (n % (side * side), n / (side * side));
        let wobble = |salt: usize| ((n * 7919 + salt * 104_729) % 1000) as f64 / 1000.0 - 0.5;
        let spot = |k: usize| 0.62 * (k as f64 - 0.5 * side as f64);
        let at = DVec3::new(
            spot(column % side) + 0.1 * wobble(1),
            spot(column / side) + 0.1 * wobble(2),
            0.4 + 0.6 * level as f64,
        );
        let shape = if n.is_multiple_of(2) { ball.clone() } else { cube.clone() };
        world.add_body(Body::dynamic().position(at).with_shape(shape))?;
    }
    let simulator = Registry::default().simulators.make("realtime", &Properties::new())?;
    Ok(BuiltScene {
        world,
        simulator,
        dt: 1.0 / 60.0,
        duration: 60.0,
        title: format!("A heap of {bodies}"),
        description: String::new(),
        plot: Vec::new(),
        warnings: Vec::new(),
    })
}
