//! Integration tests of the dynamics. One binary: each further one would be linked with everything again.

mod collision_random;
#[path = "multibody/support.rs"]
mod multibody_support;

mod alternation;
mod collision_properties;
mod collision_reference;
mod constraint;
mod constraint_clusters;
mod constraint_collisions;
mod constraint_forces;
mod constraint_joints;
mod constraint_penalty;
mod constraint_restore;
mod constraint_rolling;
mod constraint_scenes;
mod energy_ledger;
mod forces;
mod impulse;
mod impulse_acceptance;
mod impulse_energy;
mod impulse_patch;
mod impulse_rest;
mod impulse_threads;
mod instruments;
mod joints;
mod live_changes;
mod multibody;
mod multibody_algorithms;
mod multibody_derivatives;
mod multibody_mechanism;
mod multibody_world;
mod one_way;
mod outside_simulator;
mod pair_filter;
mod query;
mod realtime;
mod realtime_depth;
mod realtime_exact;
mod realtime_impact;
mod sequential;
mod snapshot;
mod torque_free;
mod type_names;
mod validation;
mod world;
