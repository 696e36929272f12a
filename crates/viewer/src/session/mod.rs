//! A session: one scene or recording that runs on a thread of its own, and the state that clients see.
//!
//! The player publishes the newest state into a [`View`] and goes on; the task of a client takes from it what changed since the
//! last frame it sent. No frames are queued: a slow client skips frames and delays no other.

mod channels;
mod drag;
mod loaded_scene;
mod overlays;
mod player;
mod sliders;

pub use loaded_scene::SessionContent;

use crate::message::{Command, Head, Words, section};
use crate::render_scene::RenderScene;
use overlays::Overlays;
use player::Player;
use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::watch;

/// Most commands waiting for the player.
const WAITING_COMMANDS: usize = 256;
/// Notices kept for clients that have not been sent them yet.
const NOTICES: usize = 16;

/// Number of a client, unique within a server.
pub type ClientId = u64;

/// What clients are sent once when a scene is loaded.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// Title, time step, simulators, channels, …, as JSON.
    pub text: Arc<str>,
    /// Bodies, parts and surfaces, as a binary message.
    pub geometry: Arc<[u8]>,
}

/// Pose of a body in a frame: three f32, four i16.
pub(crate) type SentPose = [u32; 5];

/// The newest published state.
#[derive(Debug, Default)]
pub struct View {
    /// Header of the frame.
    pub head: Head,
    /// None while no scene is open.
    pub announcement: Option<Announcement>,
    /// Position and packed quaternion of each body, and the frame in which it last changed.
    pub(crate) poses: Vec<(SentPose, u32)>,
    pub(crate) overlays: Overlays,
    /// Reports of selected bodies by index: the frame they are from, and JSON.
    pub(crate) reports: BTreeMap<u32, (u32, Arc<str>)>,
    /// Messages to users, numbered in sequence.
    notices: Vec<(u64, Arc<str>)>,
    notice_count: u64,
    /// Values of the plotted channels, by name.
    pub(crate) channels: BTreeMap<String, Vec<f64>>,
    /// What each client has subscribed to.
    pub(crate) subscriptions: BTreeMap<ClientId, Subscription>,
    /// Cost of encoding and sending frames.
    pub(crate) cost: FrameCost,
}

/// What a client has subscribed to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subscription {
    /// Overlays, as bits.
    pub overlays: u32,
    /// Depth of the hierarchy overlay.
    pub level: u32,
    /// Body whose report it receives.
    pub body: Option<u32>,
    /// Channels it plots, by name.
    pub channels: Vec<String>,
}

/// Mean time to encode a frame and to send it, s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameCost {
    pub encode: f64,
    pub send: f64,
}

/// Most channels that a client may plot.
pub(crate) const MAX_CHANNELS: usize = 12;
/// Longest name of a channel.
pub(crate) const MAX_CHANNEL_NAME: usize = 200;

impl View {
    /// Bits of all overlays that some client shows.
    pub(crate) fn wanted_overlays(&self) -> u32 {
        self.subscriptions.values().fold(0, |bits, subscription| bits | subscription.overlays)
    }

    /// The deepest level of the hierarchy that some client shows.
    pub(crate) fn wanted_level(&self) -> u32 {
        self.subscriptions.values().map(|subscription| subscription.level).max().unwrap_or_default()
    }

    pub(crate) fn notify(&mut self, notice: &str) {
        self.notice_count += 1;
        self.notices.push((self.notice_count, notice.into()));
        if self.notices.len() > NOTICES {
            self.notices.remove(0);
        }
    }

    /// Notices after a number, and the number of the last.
    pub fn notices_after(&self, seen: u64) -> (Vec<Arc<str>>, u64) {
        let news = self.notices.iter().filter(|(number, _)| *number > seen);
        (news.map(|(_, text)| Arc::clone(text)).collect(), self.notice_count)
    }

    /// (last frame a client was sent, its subscription) ⇒ the frame message for it.
    pub fn frame(&self, seen: u32, subscription: &Subscription) -> Vec<u8> {
        let sections = self.overlays.sections(subscription.overlays);
        let plots = !subscription.channels.is_empty();
        let mut words = self.head.write(1 + sections.len() as u32 + u32::from(plots));
        words.put(section::POSES);
        let changed = || self.poses.iter().enumerate().filter(|(_, (_, frame))| *frame > seen);
        words.put(changed().count() as u32);
        for (index, (pose, _)) in changed() {
            words.put(index as u32);
            for word in pose {
                words.put(*word);
            }
        }
        for Words(bytes) in sections {
            words.0.extend_from_slice(bytes);
        }
        if plots {
            self.put_channels(&subscription.channels, &mut words);
        }
        words.0
    }

    fn put_channels(&self, names: &[String], words: &mut Words) {
        let known: Vec<(usize, &Vec<f64>)> =
            names.iter().enumerate().filter_map(|(k, name)| Some((k, self.channels.get(name)?))).collect();
        words.put(section::CHANNELS);
        words.put(known.iter().map(|(_, values)| values.len()).sum::<usize>() as u32);
        for (channel, values) in known {
            for (component, value) in values.iter().enumerate() {
                words.put(channel as u32);
                words.put(component as u32);
                words.real(*value);
            }
        }
    }
}

/// State shared by the player and the clients' tasks.
#[derive(Debug)]
pub struct Shared {
    view: Mutex<View>,
    frames: watch::Sender<u32>,
}

impl Shared {
    /// The view. A poisoned lock is used all the same: every field is valid after each assignment.
    pub fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receiver of frame numbers; holds the newest only.
    pub fn frames(&self) -> watch::Receiver<u32> {
        self.frames.subscribe()
    }

    pub(crate) fn announce_frame(&self, frame: u32) {
        self.frames.send_replace(frame);
    }
}

/// A message to the player.
#[derive(Debug)]
pub(crate) enum Request {
    Command(ClientId, Command),
    /// The client has disconnected.
    Disconnected(ClientId),
    /// The session ends.
    Close,
}

/// A running session.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
    requests: SyncSender<Request>,
    player: Option<JoinHandle<()>>,
}

impl Session {
    /// (content, whether it starts running) ⇒ session.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn open(content: SessionContent, playing: bool) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { view: Mutex::new(View::default()), frames: watch::Sender::new(0) });
        let (requests, received) = sync_channel(WAITING_COMMANDS);
        let for_player = Arc::clone(&shared);
        let player = std::thread::Builder::new()
            .name("player".into())
            .spawn(move || Player::new(content, for_player, playing).run(&received))?;
        Ok(Self { shared, requests, player: Some(player) })
    }

    /// The published state.
    pub const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Passes a command to the player; refused if too many are waiting.
    ///
    /// # Errors
    /// Too many commands are waiting, or the session is closed.
    pub fn request(&self, client: ClientId, command: Command) -> Result<(), &'static str> {
        self.requests.try_send(Request::Command(client, command)).map_err(|error| match error {
            TrySendError::Full(_) => "too many commands at once; wait a little",
            TrySendError::Disconnected(_) => "the session is closed",
        })
    }

    /// Drops the subscription of a client and releases the body it drags.
    pub fn forget(&self, client: ClientId) {
        self.shared.view().subscriptions.remove(&client);
        // If the queue is full, the body stays attached until the next scene or reset.
        let _ = self.requests.try_send(Request::Disconnected(client));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Blocks while the player is within a long step and its queue is full.
        let _ = self.requests.send(Request::Close);
        if let Some(player) = self.player.take() {
            let _ = player.join();
        }
    }
}

/// (pose, origin) ⇒ pose in a frame: position relative to the origin in f32, quaternion in i16.
pub(crate) fn sent_pose(pose: &rattleback_geometry::Pose, origin: glam::DVec3) -> SentPose {
    let p = (pose.translation - origin).as_vec3();
    let q = pose.rotation.to_array().map(|x| u32::from((x * 32767.0).round() as i16 as u16));
    [p.x.to_bits(), p.y.to_bits(), p.z.to_bits(), q[0] | q[1] << 16, q[2] | q[3] << 16]
}

/// A render scene and the origin that positions in messages are relative to.
#[derive(Debug)]
pub(crate) struct RelativeScene {
    pub render: RenderScene,
    pub origin: glam::DVec3,
}
