//! Outcome of a collision.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Impulse, velocity and diagnostics of a collision, in the contact frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Impulse p on body B (−p on body A), in N s.
    pub impulse: DVec3,
    /// Relative velocity after the collision, in m/s.
    pub velocity: DVec3,
    /// Work of the normal force while the contact was compressed (u_z < 0), ≤ 0, in J.
    pub compression_work: f64,
    /// Work of the normal force during restitution (u_z > 0), ≥ 0, in J.
    pub restitution_work: f64,
    /// Work of the whole impulse = change of the kinetic energy of both bodies, ½(u_f + u_0)·p, in J.
    pub work: f64,
    /// History of the sliding.
    pub slip: SlipHistory,
    /// Steps taken by an integrator or an iteration; 0 for a closed form.
    pub evaluations: u32,
    /// Method by which it was computed.
    pub scheme: Scheme,
}

impl Outcome {
    /// A contact that does not approach: no impulse, unchanged velocity.
    pub(super) fn nothing(velocity: DVec3) -> Self {
        Self {
            impulse: DVec3::ZERO,
            velocity,
            compression_work: 0.0,
            restitution_work: 0.0,
            work: 0.0,
            slip: SlipHistory::default(),
            evaluations: 0,
            scheme: Scheme::Nothing,
        }
    }

    /// Net work of the normal force.
    pub fn normal_work(&self) -> f64 {
        self.compression_work + self.restitution_work
    }

    /// Class of the history of the sliding.
    pub fn slip_kind(&self) -> SlipKind {
        match self.slip.stick {
            None if self.scheme == Scheme::Nothing || self.scheme == Scheme::Algebraic => SlipKind::Unknown,
            None => SlipKind::SlidesThroughout,
            Some(stick) if !stick.stable => SlipKind::SticksThenSlides,
            Some(stick) if stick.normal_velocity < 0.0 => SlipKind::SticksInCompression,
            Some(_) => SlipKind::SticksInRestitution,
        }
    }
}

/// History of the sliding during a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlipHistory {
    /// Whether the contact slid before it stuck, or throughout.
    pub slid: bool,
    /// The instant at which the sliding velocity reached zero, if it did.
    pub stick: Option<Stick>,
    /// Direction in rad in which a contact slid away again, where sticking was unstable.
    pub resumed: Option<f64>,
    /// Number of times the normal velocity rose through zero; more than once only with strong friction.
    pub compressions: u32,
}

/// The instant at which the sliding velocity reached zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stick {
    /// Normal impulse so far, in N s.
    pub normal_impulse: f64,
    /// Normal velocity at that instant, in m/s.
    pub normal_velocity: f64,
    /// Whether the contact sticks from then on.
    pub stable: bool,
}

/// Class of the history of the sliding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlipKind {
    /// The law does not compute it, or there was no collision.
    Unknown,
    /// It never stops.
    SlidesThroughout,
    /// It stops while u_z < 0, and sticks.
    SticksInCompression,
    /// It stops while u_z ≥ 0, and sticks.
    SticksInRestitution,
    /// It stops, or started at rest, and slides away along the diverging ray.
    SticksThenSlides,
}

/// Method by which an outcome was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheme {
    /// The contact was not approaching.
    Nothing,
    /// Straight pieces only.
    ClosedForm,
    /// Integration in polar variables.
    Polar,
    /// The phased scheme.
    Phased,
    /// An algebraic law, without integration.
    Algebraic,
}
