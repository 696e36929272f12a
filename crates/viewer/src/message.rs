//! What page and server say to each other.
//!
//! The page sends JSON: one [`Command`] a message. The server sends JSON texts for what is rare ([`Reply`]) and binary messages,
//! little-endian and in whole words of four bytes, for what is large or often:
//!
//! *Cast* (once a scene): 2, epoch, number of bodies, parts, planes, surfaces; bodies (colour 0xRRGGBB, status, principal frame as
//! position and quaternion x y z w); parts (body, surface, sensor, pose, scale); planes (body, pose); surfaces (corners,
//! triangles, positions, normals, indices).
//!
//! *Frame* (often): [`Head::WORDS`] words of head as [`Head`] lists them, then sections: id, number of rows, rows. Positions are
//! f32 relative to the origin of the scene, quaternions four i16.

use crate::look::{Look, Surface};
use glam::DVec3;
use rattleback_dynamics::Status;
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

/// Longest message a page may send.
pub const MAX_COMMAND_BYTES: usize = 16 << 10;

/// What a page can ask for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Command {
    /// Let time run.
    Play,
    /// Stop the time.
    Pause,
    /// So many steps, and stop.
    Step {
        /// At least one.
        #[serde(default = "one")]
        count: u32,
    },
    /// Back to the beginning.
    Reset,
    /// So many times as fast.
    Speed {
        /// 1 is the scene's own pace.
        factor: f64,
    },
    /// Go on with another simulator.
    Simulator {
        /// Its type name.
        name: String,
    },
    /// Show another scene that comes along, or the one given at the start (an empty name).
    Open {
        /// Its name.
        scene: String,
    },
    /// Take hold of a body.
    Grab {
        /// Index of the body.
        body: u32,
        /// Where, relative to the origin.
        point: [f64; 3],
    },
    /// Pull what is held.
    Drag {
        /// Where to, relative to the origin.
        target: [f64; 3],
    },
    /// Let go.
    Release,
    /// Go to a state of a recording.
    Seek {
        /// Its number.
        state: u32,
    },
    /// Which instruments this page shows.
    Show {
        /// Their names.
        layers: Vec<String>,
        /// How deep in the trees of shapes the boxes are that the hierarchy shows.
        #[serde(default)]
        level: u32,
    },
    /// Which channels this page plots.
    Plot {
        /// Their names, such as `energy.drift` or `ball.z`.
        channels: Vec<String>,
    },
    /// Which body this page looks at closely.
    Watch {
        /// Its index.
        body: Option<u32>,
    },
}

const fn one() -> u32 {
    1
}

/// JSON that a page receives.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply<'a> {
    /// Something a person should know.
    Notice(&'a str),
    /// A command was not understood or cannot be carried out.
    Error(&'a str),
}

impl Reply<'_> {
    /// As JSON.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What instruments there are, as bits.
pub mod layer {
    /// Points where bodies touch, with normal and force.
    pub const CONTACTS: u32 = 1;
    /// Boxes around bodies.
    pub const BOXES: u32 = 2;
    /// Linear and angular velocities.
    pub const VELOCITIES: u32 = 4;
    /// Who sleeps.
    pub const SLEEPING: u32 = 8;
    /// Springs.
    pub const SPRINGS: u32 = 16;
    /// Joints and their limits.
    pub const JOINTS: u32 = 32;
    /// Cells or tree of the space.
    pub const CELLS: u32 = 64;
    /// Levels of the trees of shapes.
    pub const HIERARCHY: u32 = 128;

    /// Names of layers ⇒ bits; names of layers that the page draws by itself are none.
    pub fn bits(names: &[String]) -> u32 {
        names.iter().fold(0, |bits, name| {
            bits | match name.as_str() {
                "contacts" => CONTACTS,
                "boxes" => BOXES,
                "velocities" => VELOCITIES,
                "sleeping" => SLEEPING,
                "springs" => SPRINGS,
                "joints" => JOINTS,
                "cells" => CELLS,
                "hierarchy" => HIERARCHY,
                _ => 0,
            }
        })
    }
}

/// Sections of a frame.
pub mod section {
    /// Body, position, quaternion as i16: 6 words.
    pub const POSES: u32 = 1;
    /// Point, normal, force: 7 words.
    pub const CONTACTS: u32 = 2;
    /// Body, least and greatest corner: 7 words.
    pub const BOXES: u32 = 3;
    /// Body, centre of mass, velocity, angular velocity: 10 words.
    pub const VELOCITIES: u32 = 4;
    /// Body: 1 word.
    pub const SLEEPING: u32 = 5;
    /// Both ends: 6 words.
    pub const SPRINGS: u32 = 6;
    /// What it stands for, both ends: 7 words.
    pub const JOINTS: u32 = 7;
    /// Level, least and greatest corner: 7 words.
    pub const CELLS: u32 = 8;
    /// Body, level, middle and half the sides as three vectors, in the frame of the body: 14 words.
    pub const HIERARCHY: u32 = 9;
    /// Number of the channel in the list that the page sent, number of the component, value: 3 words.
    pub const CHANNELS: u32 = 10;
}

/// Bytes of words, one after the other.
#[derive(Debug, Default)]
pub struct Words(pub Vec<u8>);

impl Words {
    /// A whole number.
    pub fn put(&mut self, word: u32) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    /// A number.
    pub fn real(&mut self, number: f64) {
        self.0.extend_from_slice(&(number as f32).to_le_bytes());
    }

    /// A number in two words.
    pub fn double(&mut self, number: f64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Three numbers.
    pub fn vector(&mut self, v: DVec3) {
        for number in v.to_array() {
            self.real(number);
        }
    }

    /// Numbers as they are.
    pub fn reals(&mut self, numbers: &[f32]) {
        for number in numbers {
            self.0.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Position and quaternion.
    fn pose(&mut self, pose: &Pose) {
        self.vector(pose.translation);
        for number in pose.rotation.to_array() {
            self.real(number);
        }
    }
}

/// (epoch, look) ⇒ the cast message.
pub fn cast(epoch: u32, look: &Look) -> Vec<u8> {
    let mut words = Words::default();
    for word in [2, epoch] {
        words.put(word);
    }
    for count in [look.bodies.len(), look.parts.len(), look.planes.len(), look.surfaces.len()] {
        words.put(count as u32);
    }
    for body in &look.bodies {
        words.put(body.colour.hex());
        words.put(match body.status {
            Status::Dynamic => 0,
            Status::Animated => 1,
            Status::Fixed => 2,
            Status::Inactive => 3,
        });
        words.pose(&body.principal);
    }
    for part in &look.parts {
        words.put(part.body);
        words.put(part.surface);
        words.put(part.sensor.into());
        words.pose(&part.pose);
        words.vector(part.scale);
    }
    for plane in &look.planes {
        words.put(plane.body);
        words.pose(&plane.pose);
    }
    for Surface { positions, normals, triangles } in &look.surfaces {
        words.put(positions.len() as u32);
        words.put(triangles.len() as u32);
        for corner in positions.iter().chain(normals) {
            words.reals(&corner.to_array());
        }
        for index in triangles.as_flattened() {
            words.put(*index);
        }
    }
    words.0
}

/// The head of a frame: everything about the stage in a few numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Which scene since the server started.
    pub epoch: u32,
    /// Which frame since the server started.
    pub frame: u32,
    /// Whether time runs.
    pub playing: bool,
    /// Whether the simulation cannot keep up.
    pub late: bool,
    /// s.
    pub time: f64,
    /// J.
    pub kinetic_energy: f64,
    /// J.
    pub potential_energy: f64,
    /// kg·m/s.
    pub momentum: DVec3,
    /// kg·m²/s.
    pub angular_momentum: DVec3,
    /// What a step costs, ms.
    pub step_ms: f64,
    /// The same by stage, if the simulator tells: pairs, contacts, solve, motion.
    pub stages_ms: [f64; 4],
    /// What it costs to look at the stage: poses, instruments, energies; ms.
    pub look_ms: f64,
    /// What it costs to put a frame into bytes for a client, ms.
    pub encode_ms: f64,
    /// How long it takes until a client's socket has taken them, ms.
    pub send_ms: f64,
    /// Simulated seconds in a second.
    pub rate: f64,
    /// Steps since the beginning.
    pub steps: u32,
    /// Who sleeps.
    pub asleep: u32,
    /// Which state of a recording.
    pub state: u32,
    /// Points in which bodies touch.
    pub contacts: u32,
}

impl Head {
    /// Words before the sections.
    pub const WORDS: usize = 30;

    /// (number of sections) ⇒ the head in words.
    pub fn write(&self, sections: u32) -> Words {
        let mut words = Words(Vec::with_capacity(4 * Self::WORDS));
        for word in [1, self.epoch, self.frame, u32::from(self.playing) | u32::from(self.late) << 1] {
            words.put(word);
        }
        for number in [self.time, self.kinetic_energy, self.potential_energy] {
            words.double(number);
        }
        words.vector(self.momentum);
        words.vector(self.angular_momentum);
        words.real(self.step_ms);
        words.real(self.rate);
        for word in [self.steps, self.asleep, self.state, self.contacts, sections] {
            words.put(word);
        }
        for number in [self.look_ms, self.encode_ms, self.send_ms].into_iter().chain(self.stages_ms) {
            words.real(number);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_as_long_as_they_say() {
        assert_eq!(Head::default().write(0).0.len(), 4 * Head::WORDS);
    }

    #[test]
    fn commands_are_read_and_nonsense_is_not() {
        let read = |text: &str| serde_json::from_str::<Command>(text);
        assert_eq!(read(r#"{"do":"step"}"#).unwrap(), Command::Step { count: 1 });
        assert!(read(r#"{"do":"plot","channels":["energy.drift"]}"#).is_ok());
        let layers = vec!["boxes".to_owned()];
        assert_eq!(read(r#"{"do":"show","layers":["boxes"]}"#).unwrap(), Command::Show { layers, level: 0 });
        assert_eq!(read(r#"{"do":"watch","body":3}"#).unwrap(), Command::Watch { body: Some(3) });
        for nonsense in
            ["", "[]", r#"{"do":"explode"}"#, r#"{"do":"grab","body":-1,"point":[0,0,0]}"#, "\u{0}"]
        {
            assert!(read(nonsense).is_err(), "{nonsense}");
        }
    }
}
