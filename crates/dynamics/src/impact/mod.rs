//! Impact laws: the impulse between two rigid bodies that collide in one point.
//!
//! A collision takes no time and moves nothing; it is an impulse in one point. Its outcome depends only on a
//! 3×3 matrix K ([`Collision`]), the relative velocity, friction and restitution. [`resolve`] integrates
//! Coulomb's law through the collision, including slip that turns, stops and resumes, and ends it by the work
//! of the normal force (Stronge), so that no collision creates energy. Newton's and Poisson's restitution are
//! available too; [`resolve_passive`] keeps them from creating energy. Simpler laws ([`Law`]) are for
//! comparison; each names what it violates.
//!
//! * [`Compliance`]: the blocks of K, the flow of the sliding velocity, sticking,
//! * [`rays`]: directions of sliding that are constant,
//! * [`Impact`], [`ContactLaw`]: input and interface of a user-defined law,
//! * [`micro_collision`]: how a body rests on many small collisions.
//!
//! The module does not depend on a world or a simulator, and nothing allocates. After B. Mirtich,
//! *Impulse-based dynamic simulation of rigid body systems* (1996), chapter 3; W. J. Stronge (1990); the
//! polar form follows J. B. Keller (1986) and V. Bhatt & J. Koechling (1995).

mod collision;
mod compliance;
mod error;
mod gauss;
mod law;
mod micro;
mod outcome;
mod panel;
mod passive;
mod phased;
mod polar;
mod rays;
mod reference;
mod settings;
mod single_impact;
mod slide_arc;
mod slide_piece;
mod taylor;

pub use collision::{Collision, ContactBody, collision_matrix, contact_frame};
pub use compliance::{Compliance, Flow, Sticking};
pub use error::CollisionError;
pub use law::{
    ChatterjeeRuina, ConstantDirection, ContactLaw, Integrated, Phased, SequentialImpulse, Whittaker,
};
pub use micro::{MicroKind, MicroOutcome, MicroSettings, micro_collision};
pub use outcome::{Outcome, Scheme, SlipHistory, SlipKind, Stick};
pub use passive::resolve_passive;
pub use rays::{Ray, Rays, rays};
pub use reference::{REFERENCE, ReferenceCollision};
pub use settings::{CollisionSettings, Law, Restitution, resolve, resolve_by};
pub use single_impact::Impact;

use single_impact::Progress;
