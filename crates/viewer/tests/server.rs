//! The server and its clients, well-behaved and hostile. All traffic stays on the loopback address.

use rattleback_dynamics::Registry;
use rattleback_scene::Scene;
use rattleback_scene::recording::{Recording, RecordingWriter};
use rattleback_viewer::measure::heap;
use rattleback_viewer::server::MAX_CLIENTS;
use rattleback_viewer::session::SessionContent;
use rattleback_viewer::{Server, ServerOptions};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket, client};

const PATIENCE: Duration = Duration::from_secs(10);

fn serve(scene: &str, playing: bool) -> Server {
    let program = SessionContent::Scene(scene.into(), Box::new(Scene::built_in(scene).unwrap()));
    Server::start(program, ServerOptions { playing, ..ServerOptions::default() }).unwrap()
}

type Refused = Box<tungstenite::Error>;

fn try_connect(server: &Server, origin: Option<&str>, token: &str) -> Result<Client, Refused> {
    let address = server.address();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("ws://{address}/socket?token={token}").into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    match client(request, stream) {
        Ok((socket, _)) => Ok(Client { socket }),
        Err(tungstenite::HandshakeError::Failure(error)) => Err(Box::new(error)),
        Err(error) => panic!("{error}"),
    }
}

fn connect(server: &Server) -> Client {
    try_connect(server, Some(&format!("http://{}", server.address())), server.token()).unwrap()
}

fn status_of(refused: &tungstenite::Error) -> u16 {
    match refused {
        tungstenite::Error::Http(response) => response.status().as_u16(),
        other => panic!("{other}"),
    }
}

struct Client {
    socket: WebSocket<TcpStream>,
}

/// The words of a frame that tests check.
#[derive(Clone, Debug)]
struct Frame {
    number: u32,
    playing: bool,
    time: f64,
    steps: u32,
    state: u32,
    sections: Vec<(u32, u32)>,
    /// (body, position) of the bodies that moved.
    moved: Vec<(u32, [f32; 3])>,
    /// (channel, component, value).
    channels: Vec<(u32, u32, f32)>,
    /// Step, publish, encode, send, ms.
    stages: [f32; 4],
}

impl Client {
    fn send(&mut self, command: &Value) {
        self.socket.send(Message::Text(command.to_string().into())).unwrap();
    }

    fn json(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Message::Text(text) = self.socket.read().unwrap() {
                let value: Value = serde_json::from_str(&text).unwrap();
                if wanted(&value) {
                    return value;
                }
            }
        }
        panic!("no such message arrived");
    }

    fn frame(&mut self) -> Frame {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let Message::Binary(data) = self.socket.read().unwrap() else { continue };
            let word = |at: usize| u32::from_le_bytes(data[4 * at..4 * at + 4].try_into().unwrap());
            if word(0) != 1 {
                continue;
            }
            let (mut at, mut sections, mut moved) = (30, Vec::new(), Vec::new());
            let mut channels = Vec::new();
            for _ in 0..word(22) {
                let (id, count) = (word(at), word(at + 1));
                at += 2;
                let width = [0, 6, 7, 7, 10, 1, 6, 7, 7, 14, 3][id as usize];
                if id == 1 {
                    for row in 0..count as usize {
                        let real = |k: usize| f32::from_bits(word(at + 6 * row + k));
                        moved.push((word(at + 6 * row), [real(1), real(2), real(3)]));
                    }
                }
                if id == 10 {
                    for row in 0..count as usize {
                        let row = at + 3 * row;
                        channels.push((word(row), word(row + 1), f32::from_bits(word(row + 2))));
                    }
                }
                sections.push((id, count));
                at += width * count as usize;
            }
            assert_eq!(4 * at, data.len(), "a frame has its stated length");
            return Frame {
                number: word(2),
                playing: word(3) & 1 == 1,
                time: f64::from_le_bytes(data[16..24].try_into().unwrap()),
                steps: word(18),
                state: word(20),
                sections,
                moved,
                channels,
                stages: [16, 23, 24, 25].map(|at| f32::from_bits(word(at))),
            };
        }
        panic!("no frame came");
    }

    fn frame_where(&mut self, wanted: impl Fn(&Frame) -> bool) -> Frame {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let frame = self.frame();
            if wanted(&frame) {
                return frame;
            }
        }
        panic!("no such frame came");
    }
}

fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn only_the_page_served_here_may_connect() {
    let server = serve("tennis-racket", false);
    let own = format!("http://{}", server.address());
    let token = server.token().to_owned();
    for (origin, token) in [
        (Some("http://evil.example"), token.as_str()),
        (Some("http://127.0.0.1:1"), &token),
        (Some("null"), &token),
        (None, &token),
        (Some(own.as_str()), ""),
        (Some(&own), "00000000000000000000000000000000"),
        (Some(&own), &token[1..]),
    ] {
        let refused = try_connect(&server, origin, token).err().expect("another origin was accepted");
        assert_eq!(status_of(&refused), 403, "{origin:?} {token}");
    }
    assert_eq!(server.clients(), 0);
    connect(&server).frame();
}

#[test]
fn there_are_only_so_many_seats() {
    let server = serve("tennis-racket", false);
    let mut clients: Vec<Client> = (0..MAX_CLIENTS).map(|_| connect(&server)).collect();
    let origin = format!("http://{}", server.address());
    let refused = try_connect(&server, Some(&origin), server.token()).err().unwrap();
    assert_eq!(status_of(&refused), 503);
    clients.pop();
    wait_for("a connection is closed", || server.clients() < MAX_CLIENTS);
    connect(&server).frame();
}

#[test]
fn garbage_is_answered_and_harms_nobody() {
    let server = serve("tennis-racket", true);
    let mut good = connect(&server);
    let mut bad = connect(&server);
    for garbage in [
        "",
        "{",
        "null",
        "[1, 2]",
        "{\"do\": \"explode\"}",
        "{\"do\":\"speed\",\"factor\":\"fast\"}",
        "\u{1F4A3}",
    ] {
        bad.socket.send(Message::Text(garbage.into())).unwrap();
        bad.json(|reply| reply["error"].as_str().is_some_and(|text| text.contains("not a command")));
    }
    bad.socket.send(Message::Binary(vec![0xff; 4096].into())).unwrap();
    bad.json(|reply| reply["error"].as_str().is_some_and(|text| text.contains("binary")));
    // Valid commands that cannot be executed are refused with a message.
    for command in [
        json!({ "do": "speed", "factor": -1 }),
        json!({ "do": "speed", "factor": 1e300 }),
        json!({ "do": "open", "scene": "../../../etc/passwd" }),
        json!({ "do": "simulator", "name": "magic" }),
        json!({ "do": "grab", "body": 4_000_000_000u32, "point": [0, 0, 0] }),
        json!({ "do": "seek", "state": 3 }),
    ] {
        bad.send(&command);
        bad.json(|reply| reply.get("notice").is_some());
    }
    // Larger than any command: the connection ends, and only that one.
    let _ = bad.socket.send(Message::Text("x".repeat(1 << 20).into()));
    wait_for("the garbage is gone", || server.clients() == 1);
    // Not even a WebSocket.
    let mut raw = TcpStream::connect(server.address()).unwrap();
    raw.write_all(&[0, 159, 146, 150, 13, 10, 13, 10]).unwrap();
    let first = good.frame().number;
    assert!(good.frame_where(|frame| frame.number > first).playing);
}

#[test]
fn two_hundred_clients_come_and_go_without_a_trace() {
    let server = serve("coins", true);
    connect(&server).frame();
    wait_for("the first client has gone", || server.clients() == 0);
    let open_files = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let before = (open_files(), threads());
    let began = Instant::now();
    for n in 0..200 {
        let mut client = connect(&server);
        if n % 2 == 0 {
            client.send(&json!({ "do": "show", "overlays": ["boxes"] }));
            let _ = client.socket.close(None);
        }
        drop(client);
        // A hundred a second.
        std::thread::sleep(
            (began + Duration::from_millis(10 * (n + 1))).saturating_duration_since(Instant::now()),
        );
    }
    wait_for("all clients have disconnected", || server.clients() == 0);
    assert!(server.shared().view().announcement.is_some());
    wait_for("files and threads are given back", || {
        // Other tests of this file open and close theirs meanwhile; two hundred would be seen.
        open_files() < before.0 + 100 && threads() < before.1 + 100
    });
    connect(&server).frame();
}

/// A client that does not read skips frames; they are not queued, and other clients receive all.
#[test]
fn slow_readers_miss_frames_and_hold_up_nobody() {
    let server =
        Server::start(SessionContent::Built(Box::new(heap(1500).unwrap())), ServerOptions::default())
            .unwrap();
    let mut slow = connect(&server);
    slow.frame();
    let mut quick = connect(&server);
    quick.frame();
    let (first, began) = (quick.frame(), Instant::now());
    // Counted, not timed: more frames than the socket buffers of the slow client hold.
    let mut frames = 0;
    while frames < 180 && began.elapsed() < Duration::from_mins(1) {
        quick.frame();
        frames += 1;
    }
    let last = quick.frame();
    assert!(frames == 180, "{frames} frames in a minute");
    assert!(last.time > first.time);
    // The frames in the socket buffers come first, then the newest: those in between are skipped.
    let (mut number, mut jump, mut read) = (0, 0, 0);
    while number < last.number {
        let frame = slow.frame();
        if number != 0 {
            jump = jump.max(frame.number - number);
        }
        number = frame.number;
        read += 1;
    }
    assert!(jump > 10 && read < last.number - first.number, "jumped by {jump}, read {read}");
}

#[test]
fn time_obeys_its_buttons() {
    let server = serve("tennis-racket", false);
    let mut client = connect(&server);
    let scene = client.json(|message| message.get("scene").is_some());
    assert_eq!(scene["scene"]["name"], "tennis-racket");
    let dt = scene["scene"]["dt"].as_f64().unwrap();
    assert_eq!(client.frame().steps, 0);
    client.send(&json!({ "do": "step", "count": 3 }));
    let frame = client.frame_where(|frame| frame.steps == 3);
    assert!(!frame.playing && (frame.time - 3.0 * dt).abs() < 1e-12);
    client.send(&json!({ "do": "play" }));
    client.frame_where(|frame| frame.playing && frame.steps > 20);
    client.send(&json!({ "do": "pause" }));
    let stopped = client.frame_where(|frame| !frame.playing);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(client.frame_where(|frame| frame.number > stopped.number).time, stopped.time);
    client.send(&json!({ "do": "reset" }));
    client.frame_where(|frame| frame.time == 0.0);
    client.send(&json!({ "do": "simulator", "name": "impulse" }));
    client.json(|message| message["scene"]["simulator"] == "impulse");
    client.send(&json!({ "do": "open", "scene": "coins" }));
    client.json(|message| message["scene"]["name"] == "coins");
    client.frame_where(|frame| frame.playing);
}

/// At speed 1 a second lasts a second.
#[test]
fn the_stage_keeps_time_with_the_clock() {
    let server = serve("tennis-racket", true);
    let mut client = connect(&server);
    let (start, began) = (client.frame_where(|frame| frame.time > 0.1).time, Instant::now());
    let end = client.frame_where(|frame| frame.time > start + 1.0);
    let (simulated, passed) = (end.time - start, began.elapsed().as_secs_f64());
    assert!((simulated / passed - 1.0).abs() < 0.2, "{simulated} s in {passed} s");
}

#[test]
fn a_hand_moves_a_body_and_lets_go_when_its_page_closes() {
    let server = serve("block-drop", false);
    let mut client = connect(&server);
    let all = client.frame();
    let (body, at) = *all.moved.last().unwrap();
    client.send(&json!({ "do": "grab", "body": body, "point": at }));
    let target = [at[0] + 1.0, at[1], at[2] + 1.0];
    client.send(&json!({ "do": "drag", "target": target }));
    client.send(&json!({ "do": "step", "count": 4000 }));
    let mut now = at;
    let frame = client.frame_where(|frame| frame.steps >= 4000);
    if let Some((_, p)) = frame.moved.iter().find(|(index, _)| *index == body) {
        now = *p;
    }
    // Gravity against the spring: g/ω² = 0.098 m below the target.
    let error = [now[0] - target[0], now[1] - target[1], now[2] - target[2] + 0.0981];
    assert!(error.iter().all(|e| e.abs() < 0.02), "{now:?} {target:?}");
    drop(client);
    wait_for("the client has gone", || server.clients() == 0);
    let mut client = connect(&server);
    client.frame();
    client.send(&json!({ "do": "step", "count": 400 }));
    let frame = client.frame_where(|frame| frame.steps >= 4400);
    let fallen = frame.moved.iter().find(|(index, _)| *index == body).unwrap().1;
    assert!(fallen[2] < now[2] - 0.2, "{fallen:?}");
}

#[test]
fn overlays_are_sent_to_clients_that_show_them() {
    let server = serve("damped-springs", true);
    let mut client = connect(&server);
    assert_eq!(client.frame().sections.len(), 1);
    for (overlay, id) in [("boxes", 3), ("velocities", 4), ("sleeping", 5), ("springs", 6), ("contacts", 2)] {
        client.send(&json!({ "do": "show", "overlays": [overlay] }));
        let frame = client.frame_where(|frame| frame.sections.iter().any(|section| section.0 == id));
        assert_eq!(frame.sections.len(), 2, "{overlay}");
    }
    client.send(&json!({ "do": "watch", "body": 1 }));
    let report = client.json(|message| message.get("body").is_some());
    assert_eq!(report["body"]["index"], 1);
}

/// A hinge, a mesh and a grid: each is a section of its own; a deeper level of the mesh has more boxes.
#[test]
fn joints_cells_and_hierarchies_are_sent() {
    // A fan of forty triangles.
    let rim = |k: u32| (std::f64::consts::TAU * f64::from(k) / 40.0).sin_cos();
    let corners: Vec<String> = (0..40).map(|k| format!("[{}, {}, 0.5]", rim(k).0, rim(k).1)).collect();
    let faces: Vec<String> = (0..40).map(|k| format!("[0, {}, {}]", 1 + k, 1 + (k + 1) % 40)).collect();
    let text = format!(
        "[simulator]\ntype = 'realtime'\nspace = 'uniform-grid'\n\
         [[body]]\nname = 'door'\nposition = [1, 0, 0]\nshape = {{ type = 'box', half_extents = [0.5, 0.1, 1] }}\n\
         [[body]]\nname = 'bowl'\nstatus = 'static'\nposition = [0, 5, 0]\nshape = {{ type = 'mesh', \
         vertices = [[0, 0, 0], {}], faces = [{}] }}\n\
         [[joint]]\ntype = 'revolute'\nbodies = ['door']\nposition = [0, 0, 0]\nlimited = true\n",
        corners.join(", "),
        faces.join(", ")
    );
    let scene = Scene::parse(&text, "test").unwrap();
    let options = ServerOptions { playing: true, ..ServerOptions::default() };
    let server = Server::start(SessionContent::Scene("test".into(), Box::new(scene)), options).unwrap();
    let mut client = connect(&server);
    assert_eq!(client.json(|message| message.get("scene").is_some())["scene"]["joints"], true);
    let mut rows = |overlay: &str, level: u32, id: u32, holds: &dyn Fn(u32) -> bool| {
        client.send(&json!({ "do": "show", "overlays": [overlay], "level": level }));
        let has = |frame: &Frame| frame.sections.iter().any(|section| section.0 == id && holds(section.1));
        client.frame_where(has).sections.len()
    };
    assert_eq!(rows("joints", 0, 7, &|count| count > 10), 2);
    assert_eq!(rows("cells", 0, 8, &|count| count > 1), 2);
    assert_eq!(rows("hierarchy", 0, 9, &|count| count == 1), 2);
    rows("hierarchy", 2, 9, &|count| count > 2);
    rows("hierarchy", u32::MAX, 9, &|count| count > 1);
}

/// A ball in free fall: its channels are z = h − ½ g t² and v = −g t; the stages of a frame take some time each.
#[test]
fn chosen_channels_are_sent_by_number() {
    let text = "[[body]]\nname = 'ball'\nposition = [0, 0, 100]\nshape = { type = 'sphere', radius = 0.1 }\n";
    let scene = Scene::parse(text, "test").unwrap();
    let options = ServerOptions { playing: false, ..ServerOptions::default() };
    let server = Server::start(SessionContent::Scene("test".into(), Box::new(scene)), options).unwrap();
    let mut client = connect(&server);
    client
        .send(&json!({ "do": "plot", "channels": ["ball.z", "missing.x", "ball.velocity", "energy.drift"] }));
    client.send(&json!({ "do": "step", "count": 240 }));
    let frame = client.frame_where(|frame| frame.steps == 240 && frame.channels.len() == 5);
    let value = |channel: u32, component: u32| {
        let found = frame.channels.iter().find(|row| (row.0, row.1) == (channel, component));
        f64::from(found.unwrap().2)
    };
    assert!((value(0, 0) - (100.0 - 0.5 * 9.81)).abs() < 1e-4);
    assert!((value(2, 2) + 9.81).abs() < 1e-5 && value(2, 0) == 0.0);
    assert!(value(3, 0).abs() < 1e-9);
    let frame = client.frame_where(|frame| frame.stages.iter().all(|stage| *stage > 0.0));
    assert!(frame.stages.iter().all(|stage| *stage < 1000.0), "{:?}", frame.stages);
    // Unknown names and too long lists are dropped.
    let many: Vec<String> = (0..100).map(|_| "ball.x".to_owned()).chain(["x".repeat(10_000)]).collect();
    client.send(&json!({ "do": "plot", "channels": many }));
    let frame = client.frame_where(|frame| frame.channels.len() == 12);
    assert!(frame.channels.iter().all(|row| row.2 == 0.0));
}

/// What a scene contains and its simulator ignores is part of the announcement, with its line; another simulator has other warnings.
#[test]
fn warnings_of_a_scene_are_announced() {
    let text = "simulator = { type = 'penalty' }\n\
                [materials.felt]\nrolling_friction = 0.01\n\
                [[body]]\nmaterial = 'felt'\nshape = { type = 'sphere', radius = 0.1 }\n";
    let scene = Scene::parse(text, "test").unwrap();
    let options = ServerOptions { playing: false, ..ServerOptions::default() };
    let server = Server::start(SessionContent::Scene("test".into(), Box::new(scene)), options).unwrap();
    let mut client = connect(&server);
    let scene = client.json(|message| message.get("scene").is_some());
    let warnings = scene["scene"]["warnings"].as_array().unwrap();
    let text = warnings[0].as_str().unwrap();
    assert!(warnings.len() == 1 && text.contains("rolling-friction") && text.contains('3'), "{warnings:?}");
    client.send(&json!({ "do": "simulator", "name": "impulse" }));
    let scene = client.json(|message| message["scene"]["simulator"] == "impulse");
    assert!(scene["scene"]["warnings"].as_array().unwrap().is_empty());
}

#[test]
fn a_recording_is_scrubbed() {
    let path = std::env::temp_dir().join(format!("rattleback-server-test-{}.rbrec", std::process::id()));
    let mut built = Scene::built_in("tennis-racket").unwrap().build(&Registry::default()).unwrap();
    let mut writer =
        RecordingWriter::create(&path, &built.title, built.dt, &built.world, &*built.simulator).unwrap();
    for _ in 0..100 {
        writer.record(&built.world, &built.world.readout(), &*built.simulator).unwrap();
        built.simulator.step(&mut built.world, built.dt).unwrap();
    }
    writer.finish().unwrap();
    let recording = Recording::open(&path, &Registry::default()).unwrap();
    let options = ServerOptions { playing: false, ..ServerOptions::default() };
    let server =
        Server::start(SessionContent::Recording("run".into(), Box::new(recording)), options).unwrap();
    let mut client = connect(&server);
    let scene = client.json(|message| message.get("scene").is_some());
    assert_eq!(scene["scene"]["states"], 100);
    for state in [70u32, 12, 99, 0] {
        client.send(&json!({ "do": "seek", "state": state }));
        let frame = client.frame_where(|frame| frame.state == state);
        assert!((frame.time - f64::from(state) * built.dt).abs() < 1e-9);
    }
    client.send(&json!({ "do": "play" }));
    // It stops by itself at the end.
    client.frame_where(|frame| frame.state == 99 && !frame.playing);
    std::fs::remove_file(path).unwrap();
}

fn get(server: &Server, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end + 4..].to_vec())
}

#[test]
fn page_gallery_and_thumbnails_are_served() {
    let server = Server::start(SessionContent::Gallery, ServerOptions::default()).unwrap();
    let (head, page) = get(&server, "/");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("content-security-policy"), "{head}");
    assert!(String::from_utf8(page).unwrap().contains("Rattleback"));
    let (_, list) = get(&server, "/gallery.json");
    let scenes: Vec<Value> = serde_json::from_slice(&list).unwrap();
    assert_eq!(scenes.len(), rattleback_scene::built_ins().len());
    let (head, picture) = get(&server, "/thumbnail/coins.png");
    assert!(head.contains("image/png") && picture.starts_with(b"\x89PNG"), "{head}");
    for nothing in
        ["/thumbnail/nothing.png", "/thumbnail/..%2f..%2fetc%2fpasswd", "/../Cargo.toml", "/etc/passwd"]
    {
        assert!(get(&server, nothing).0.starts_with("HTTP/1.1 404"), "{nothing}");
    }
    let mut client = connect(&server);
    client.json(|message| message.get("gallery").is_some());
}
