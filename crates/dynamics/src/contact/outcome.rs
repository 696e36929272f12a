//! What comes out of a collision.

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
    /// Work of the normal force while it sprang back (u_z > 0), ≥ 0, in J.
    pub restitution_work: f64,
    /// Work of the whole impulse = change of the kinetic energy of both bodies, ½(u_f + u_0)·p, in J.
    pub work: f64,
    /// What the sliding did.
    pub slip: SlipHistory,
    /// Steps taken by an integrator or an iteration; 0 for a closed form.
    pub evaluations: u32,
    /// How the answer was found.
    pub scheme: Scheme,
}

impl Outcome {
    /// A contact that is not approaching: no impulse, the velocity as it was.
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

    /// The course of the sliding in one word.
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

/// What the sliding did in the course of a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlipHistory {
    /// Whether the contact slid before it came to rest, or throughout.
    pub slid: bool,
    /// When the sliding came to rest, if it did.
    pub stick: Option<Stick>,
    /// Direction in rad in which a contact that could not be held slid away again.
    pub resumed: Option<f64>,
    /// How often the normal velocity rose through zero; more than once only with strong friction.
    pub compressions: u32,
}

/// The moment at which sliding came to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stick {
    /// Normal impulse so far, in N s.
    pub normal_impulse: f64,
    /// Normal velocity at that moment, in m/s.
    pub normal_velocity: f64,
    /// Whether friction holds from there on.
    pub stable: bool,
}

/// The course of the sliding in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlipKind {
    /// The law does not follow it, or there was no collision.
    Unknown,
    /// It never comes to rest.
    SlidesThroughout,
    /// It comes to rest while u_z < 0 and stays.
    SticksInCompression,
    /// It comes to rest while u_z ≥ 0 and stays.
    SticksInRestitution,
    /// It comes to rest, or began at rest, and slides away along the diverging ray.
    SticksThenSlides,
}

/// How an answer was found.
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
    /// A law without a path.
    Algebraic,
}
