//! What the comparisons share: the same random numbers for all, rounds that alternate, and peers' numbers.

#[cfg(feature = "box3d")]
mod box3d_tree;
#[cfg(feature = "box3d")]
mod box3d_world;
#[cfg(feature = "jolt")]
mod jolt_world;
mod our_world;
mod outcome;
mod overlap;
mod place;
mod random;
mod rapier_world;
mod rounds;

#[cfg(feature = "box3d")]
pub use box3d_tree::Box3dTree;
#[cfg(feature = "box3d")]
pub use box3d_world::Box3dWorld;
#[cfg(feature = "jolt")]
pub use jolt_world::JoltWorld;
pub use our_world::OurWorld;
pub use outcome::{Outcome, SceneWorld};
pub use overlap::{OverlapMeter, Overlaps};
pub use place::{machine, today};
pub use random::Random;
pub use rapier_world::RapierWorld;
pub use rounds::{Task, Times, compare, print_rows, report, timed};

/// Defines `vector` and `pose`, which turn ours into those of a version of Parry; asked with its name and its numbers.
#[macro_export]
macro_rules! peer_numbers {
    ($library:ident, $real:ty) => {
        pub fn vector(p: ::glam::DVec3) -> $library::math::Vector {
            $library::math::Vector::new(p.x as $real, p.y as $real, p.z as $real)
        }

        #[allow(dead_code)]
        pub fn pose(pose: &::rattleback_geometry::Pose) -> $library::math::Pose {
            let [x, y, z, w] = pose.rotation.to_array().map(|q| q as $real);
            let rotation = $library::math::Rotation::from_xyzw(x, y, z, w);
            $library::math::Pose::from_parts(vector(pose.translation), rotation)
        }
    };
}
