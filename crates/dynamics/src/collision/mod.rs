//! Collision layer between the world and the simulators: a mirror of the world in contiguous arrays, its broad phase, the near
//! pairs of colliders, and their manifold points.
//!
//! `constraint`, `penalty` and `sequential` use all of it. `realtime` and `impulse` have layouts of their own, for lanes and for
//! events.

mod manifold_point;
mod mirror_state;
mod world_mirror;

pub(crate) use manifold_point::{
    ContactKey, ManifoldPoint, WarmStartCache, approach_bound, gather, warm_start_force,
};
pub(crate) use mirror_state::MirrorState;
pub(crate) use world_mirror::{
    ColliderPair, MirrorBody, MirrorCollider, MirrorJoint, WorldMirror, swept_aabb,
};
