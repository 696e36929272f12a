//! Impulses of collisions: a single pair in closed form, clusters of simultaneous collisions by a linear system.
//!
//! The normal n points from A to B, u = v_B − v_A, the impulse +P acts on B and −P on A.

mod cluster;
mod single;

pub use cluster::{
    ClusterCollision, ClusterOutcome, ClusterPartner, solve_cluster, solve_cluster_block_matrix,
};
pub use single::{Combine, FrictionModel, SingleCollision, SingleOutcome, collide_pair};
