//! Messages between page and server.
//!
//! The page sends JSON: one [`Command`] per message. The server sends JSON texts for rare messages ([`Reply`]) and binary messages,
//! little-endian in words of four bytes, for large or frequent ones:
//!
//! *Scene geometry* (once per scene): 2, epoch, number of bodies, parts, planes, surfaces; bodies (colour 0xRRGGBB, status, principal frame as
//! position and quaternion x y z w); parts (body, surface, sensor, pose, scale); planes (body, pose); surfaces (corners,
//! triangles, positions, normals, indices).
//!
//! *Frame* (up to 60 per second): [`Head::WORDS`] words of header as [`Head`] lists them, then sections: id, number of rows, rows. Positions are
//! f32 relative to the origin of the scene, quaternions four i16.

use crate::render_scene::{RenderScene, Surface};
use glam::DVec3;
use rattleback_dynamics::Status;
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

/// Longest message of a page, bytes.
pub const MAX_COMMAND_BYTES: usize = 16 << 10;

/// Command of a page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Command {
    /// Run the simulation or recording.
    Play,
    /// Pause it.
    Pause,
    /// Take some steps, then pause.
    Step {
        /// At least one.
        #[serde(default = "one")]
        count: u32,
    },
    /// Go back to the first state.
    Reset,
    /// Set the speed.
    Speed {
        /// Factor; 1 is the pace of the scene.
        factor: f64,
    },
    /// Replace the simulator.
    Simulator {
        /// Its type name.
        name: String,
    },
    /// Open a built-in scene, or the one given at the start (an empty name).
    Open {
        /// Its name.
        scene: String,
    },
    /// Start to drag a body: by a spring, or, if it is a link of a multibody and the simulation is paused, by inverse kinematics.
    Grab {
        /// Index of the body.
        body: u32,
        /// Grabbed point, relative to the origin of the scene, m.
        point: [f64; 3],
    },
    /// Move the target of the drag.
    Drag {
        /// Target, relative to the origin of the scene, m.
        target: [f64; 3],
    },
    /// End the drag.
    Release,
    /// Put a joint of a multibody somewhere.
    Joint {
        /// Number of the slider, as the scene announces them.
        slider: u32,
        /// Position, rad or m.
        value: f64,
    },
    /// Go to a state of a recording.
    Seek {
        /// Its number.
        state: u32,
    },
    /// Choose the overlays that this page shows.
    Show {
        /// Their names.
        overlays: Vec<String>,
        /// Depth of the boxes that the hierarchy overlay shows.
        #[serde(default)]
        level: u32,
    },
    /// Choose the channels that this page plots.
    Plot {
        /// Their names, such as `energy.drift` or `ball.z`.
        channels: Vec<String>,
    },
    /// Choose the body whose report this page receives.
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
    /// A message to the user.
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

/// Overlays, as bits.
pub mod overlay {
    /// Contact points with normal and force.
    pub const CONTACTS: u32 = 1;
    /// Bounding boxes of bodies.
    pub const BOXES: u32 = 2;
    /// Linear and angular velocities.
    pub const VELOCITIES: u32 = 4;
    /// Sleeping bodies.
    pub const SLEEPING: u32 = 8;
    /// Springs.
    pub const SPRINGS: u32 = 16;
    /// Joints and their limits.
    pub const JOINTS: u32 = 32;
    /// Cells or tree of the broad phase.
    pub const CELLS: u32 = 64;
    /// Levels of the bounding volume hierarchies of shapes.
    pub const HIERARCHY: u32 = 128;
    /// Positions of the joints of multibodies.
    pub const SLIDERS: u32 = 256;

    /// Names of overlays ⇒ bits; overlays that the page computes itself have none.
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
                "sliders" => SLIDERS,
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
    /// Kind of line, both ends: 7 words.
    pub const JOINTS: u32 = 7;
    /// Level, least and greatest corner: 7 words.
    pub const CELLS: u32 = 8;
    /// Body, level, centre and half the sides as three vectors, in the frame of the body: 14 words.
    pub const HIERARCHY: u32 = 9;
    /// Number of the channel in the list that the page sent, number of the component, value: 3 words.
    pub const CHANNELS: u32 = 10;
    /// Number of the slider, position: 2 words.
    pub const SLIDERS: u32 = 11;
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

    /// Some f32 numbers.
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

/// (epoch, render scene) ⇒ the scene geometry message.
pub fn scene_geometry(epoch: u32, render: &RenderScene) -> Vec<u8> {
    let mut words = Words::default();
    for word in [2, epoch] {
        words.put(word);
    }
    for count in [render.bodies.len(), render.parts.len(), render.planes.len(), render.surfaces.len()] {
        words.put(count as u32);
    }
    for body in &render.bodies {
        words.put(body.colour.hex());
        words.put(match body.status {
            Status::Dynamic => 0,
            Status::Kinematic => 1,
            Status::Fixed => 2,
            Status::Disabled => 3,
        });
        words.pose(&body.principal);
    }
    for part in &render.parts {
        words.put(part.body);
        words.put(part.surface);
        words.put(part.sensor.into());
        words.pose(&part.pose);
        words.vector(part.scale);
    }
    for plane in &render.planes {
        words.put(plane.body);
        words.pose(&plane.pose);
    }
    for Surface { positions, normals, triangles } in &render.surfaces {
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

/// The header of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Number of the scene since the server started.
    pub epoch: u32,
    /// Number of the frame since the server started.
    pub frame: u32,
    /// Whether the simulation or recording runs.
    pub playing: bool,
    /// Whether the simulation is slower than the chosen speed.
    pub late: bool,
    /// Time of the scene, s.
    pub time: f64,
    /// Kinetic energy, J.
    pub kinetic_energy: f64,
    /// Potential energy, J.
    pub potential_energy: f64,
    /// Momentum, kg·m/s.
    pub momentum: DVec3,
    /// Angular momentum, kg·m²/s.
    pub angular_momentum: DVec3,
    /// Mean time of a step, ms.
    pub step_ms: f64,
    /// Mean time of the stages of a step, if the simulator measures them, ms: pairs, contacts, solve, motion.
    pub stages_ms: [f64; 4],
    /// Mean time to publish a frame (poses, overlays, energies), ms.
    pub publish_ms: f64,
    /// Mean time to encode a frame for a client, ms.
    pub encode_ms: f64,
    /// Mean time to send a frame to a client, ms.
    pub send_ms: f64,
    /// Simulated seconds per second of wall time.
    pub rate: f64,
    /// Steps since the beginning.
    pub steps: u32,
    /// Number of sleeping bodies.
    pub asleep: u32,
    /// Number of the state of a recording.
    pub state: u32,
    /// Number of contact points.
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
        for number in [self.publish_ms, self.encode_ms, self.send_ms].into_iter().chain(self.stages_ms) {
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
        let overlays = vec!["boxes".to_owned()];
        assert_eq!(
            read(r#"{"do":"show","overlays":["boxes"]}"#).unwrap(),
            Command::Show { overlays, level: 0 }
        );
        assert_eq!(read(r#"{"do":"watch","body":3}"#).unwrap(), Command::Watch { body: Some(3) });
        for nonsense in
            ["", "[]", r#"{"do":"explode"}"#, r#"{"do":"grab","body":-1,"point":[0,0,0]}"#, "\u{0}"]
        {
            assert!(read(nonsense).is_err(), "{nonsense}");
        }
    }
}
