//! Connected components: contact islands, of near pairs and joints, and mechanisms, of joints alone.

mod contact_island;
mod mechanism;

pub(crate) use contact_island::{ContactIsland, components, islands, roots};
pub(crate) use mechanism::{JointIsland, mechanisms};
