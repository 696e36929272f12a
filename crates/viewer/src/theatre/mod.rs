//! One stage, played on a thread of its own, and what its audience sees of it.
//!
//! The player publishes the newest state into a [`View`] and goes on; whoever looks at it takes what changed since the frame
//! they saw last. Nothing queues up: a slow onlooker misses frames, and that is all.

mod channels;
mod grip;
mod instruments;
mod player;
mod program;

pub use program::Program;

use crate::look::Look;
use crate::message::{Command, Head, Words, section};
use instruments::Instruments;
use player::Player;
use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::watch;

/// Commands that may wait for the player.
const WAITING_COMMANDS: usize = 256;
/// Notices kept for those who have not read them yet.
const NOTICES: usize = 16;

/// One onlooker.
pub type ClientId = u64;

/// A scene as it was announced.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// JSON about it.
    pub text: Arc<str>,
    /// Bodies and surfaces.
    pub cast: Arc<[u8]>,
}

/// The pose of a body as it is sent.
pub(crate) type SentPose = [u32; 5];

/// What there is to see.
#[derive(Debug, Default)]
pub struct View {
    /// Numbers about the stage.
    pub head: Head,
    /// Nothing while no scene is open.
    pub announcement: Option<Announcement>,
    /// Position and packed quaternion of each body, and the frame in which it last changed.
    pub(crate) poses: Vec<(SentPose, u32)>,
    pub(crate) instruments: Instruments,
    /// JSON about bodies that are watched, by index, and the frame it is from.
    pub(crate) reports: BTreeMap<u32, (u32, Arc<str>)>,
    /// What people should know, with a running number.
    notices: Vec<(u64, Arc<str>)>,
    notice_count: u64,
    /// Numbers of the channels that anybody plots, by name.
    pub(crate) channels: BTreeMap<String, Vec<f64>>,
    /// What each client wants to see.
    pub(crate) wishes: BTreeMap<ClientId, Wish>,
    /// What frames cost on their way to the clients.
    pub(crate) post: Post,
}

/// What a client wants to see.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Instruments, as bits.
    pub layers: u32,
    /// How deep the hierarchy is shown.
    pub level: u32,
    /// Body it looks at closely.
    pub body: Option<u32>,
    /// Channels it plots, by name.
    pub channels: Vec<String>,
}

/// What frames cost on their way to the clients, s, averaged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Post {
    pub encode: f64,
    pub send: f64,
}

/// Most channels that a client may plot.
pub(crate) const MAX_CHANNELS: usize = 12;
/// Longest name of a channel.
pub(crate) const MAX_CHANNEL_NAME: usize = 200;

impl View {
    /// Instruments that anybody wants, as bits.
    pub(crate) fn wanted_layers(&self) -> u32 {
        self.wishes.values().fold(0, |bits, wish| bits | wish.layers)
    }

    /// The deepest level that anybody looks at.
    pub(crate) fn wanted_level(&self) -> u32 {
        self.wishes.values().map(|wish| wish.level).max().unwrap_or_default()
    }

    pub(crate) fn tell(&mut self, notice: &str) {
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

    /// (frame a client saw last, what it wants) ⇒ the frame message for it.
    pub fn frame(&self, seen: u32, wish: &Wish) -> Vec<u8> {
        let sections = self.instruments.sections(wish.layers);
        let plots = !wish.channels.is_empty();
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
            self.put_channels(&wish.channels, &mut words);
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

/// What player and audience share.
#[derive(Debug)]
pub struct Shared {
    view: Mutex<View>,
    frames: watch::Sender<u32>,
}

impl Shared {
    /// The view; a thread that failed while it held it has left it whole enough to look at.
    pub fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of every new frame; only the newest is remembered.
    pub fn frames(&self) -> watch::Receiver<u32> {
        self.frames.subscribe()
    }

    pub(crate) fn announce_frame(&self, frame: u32) {
        self.frames.send_replace(frame);
    }
}

/// A command and who gave it.
#[derive(Debug)]
pub(crate) enum Order {
    From(ClientId, Command),
    /// The client is gone.
    Gone(ClientId),
    /// No more shows.
    Close,
}

/// A stage with a player.
#[derive(Debug)]
pub struct Theatre {
    shared: Arc<Shared>,
    orders: SyncSender<Order>,
    player: Option<JoinHandle<()>>,
}

impl Theatre {
    /// What is on ⇒ theatre; the stage waits for somebody to say play, unless it starts by itself.
    pub fn open(program: Program, playing: bool) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { view: Mutex::new(View::default()), frames: watch::Sender::new(0) });
        let (orders, received) = sync_channel(WAITING_COMMANDS);
        let for_player = Arc::clone(&shared);
        let player = std::thread::Builder::new()
            .name("player".into())
            .spawn(move || Player::new(program, for_player, playing).perform(&received))?;
        Ok(Self { shared, orders, player: Some(player) })
    }

    /// What the audience sees.
    pub const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Passes a command on; refused if the player has too many already.
    pub fn order(&self, client: ClientId, command: Command) -> Result<(), &'static str> {
        self.orders.try_send(Order::From(client, command)).map_err(|error| match error {
            TrySendError::Full(_) => "too many commands at once; wait a little",
            TrySendError::Disconnected(_) => "the stage is closed",
        })
    }

    /// Forgets a client and lets go what it held.
    pub fn forget(&self, client: ClientId) {
        self.shared.view().wishes.remove(&client);
        // If the player is that busy, the body stays held until the next scene or reset.
        let _ = self.orders.try_send(Order::Gone(client));
    }
}

impl Drop for Theatre {
    fn drop(&mut self) {
        // The player may be in the middle of a long step, with its list of orders full.
        let _ = self.orders.send(Order::Close);
        if let Some(player) = self.player.take() {
            let _ = player.join();
        }
    }
}

/// Pose relative to an origin ⇒ as it is sent: f32 position, quaternion in sixteenths of a word.
pub(crate) fn sent_pose(pose: &rattleback_geometry::Pose, origin: glam::DVec3) -> SentPose {
    let p = (pose.translation - origin).as_vec3();
    let q = pose.rotation.to_array().map(|x| u32::from((x * 32767.0).round() as i16 as u16));
    [p.x.to_bits(), p.y.to_bits(), p.z.to_bits(), q[0] | q[1] << 16, q[2] | q[3] << 16]
}

/// A look and where its numbers count from.
#[derive(Debug)]
pub(crate) struct Scenery {
    pub look: Look,
    pub origin: glam::DVec3,
}
