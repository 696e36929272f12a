//! Contact laws: what two rigid bodies do to each other when they touch.
//!
//! A collision takes no time and moves nothing; it is an impulse in one point. All that its outcome depends on is a 3×3
//! matrix K ([`Collision`]), the relative velocity, the friction and the restitution. [`resolve`] follows Coulomb's law
//! through the collision, instant by instant, with the sliding turning, stopping and starting as it must, and ends it by
//! the work of the normal force (Stronge), so that no collision creates energy. Newton's and Poisson's restitution are
//! there too; [`resolve_passive`] keeps them from creating energy. Simpler laws ([`Law`]) are there to
//! compare with; each tells what it violates.
//!
//! * [`Compliance`]: K taken apart, the flow of the sliding velocity, sticking,
//! * [`rays`]: directions of sliding that stay,
//! * [`Impact`], [`ContactLaw`]: what a law of one's own works on,
//! * [`micro_collision`]: how a body rests on many small collisions.
//!
//! Nothing here knows a world or a simulator, and nothing allocates. After B. Mirtich, *Impulse-based dynamic simulation
//! of rigid body systems* (1996), chapter 3; W. J. Stronge (1990); the polar form follows J. B. Keller (1986) and
//! V. Bhatt & J. Koechling (1995).

mod arc;
mod collision;
mod compliance;
mod error;
mod gauss;
mod impact;
mod law;
mod micro;
mod outcome;
mod panel;
mod passive;
mod path;
mod phased;
mod polar;
mod rays;
mod reference;
mod settings;
mod taylor;

pub use collision::{Collision, Contactor, collision_matrix, contact_frame};
pub use compliance::{Compliance, Flow, Sticking};
pub use error::CollisionError;
pub use impact::Impact;
pub use law::{
    ChatterjeeRuina, ConstantDirection, ContactLaw, Integrated, Phased, SequentialImpulse, Whittaker,
};
pub use micro::{MicroKind, MicroOutcome, MicroSettings, micro_collision};
pub use outcome::{Outcome, Scheme, SlipHistory, SlipKind, Stick};
pub use passive::resolve_passive;
pub use rays::{Ray, Rays, rays};
pub use reference::{REFERENCE, ReferenceCollision};
pub use settings::{CollisionSettings, Law, Restitution, resolve, resolve_by};

use impact::Progress;
