//! Snapshots: a system as bytes, from which a run continues bit for bit.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::State;
use crate::{DeformableError, DeformableSystem};

/// First bytes: name and version of the format.
const MAGIC: [u8; 8] = *b"RTLBDEF1";

#[derive(Serialize, Deserialize)]
struct Snapshot {
    state: State,
    before: Option<(Vec<DVec3>, Vec<DVec3>, f64)>,
}

impl DeformableSystem {
    /// The system as bytes.
    ///
    /// # Errors
    /// Memory.
    pub fn snapshot(&self) -> Result<Vec<u8>, DeformableError> {
        let snapshot = Snapshot { state: self.state.clone(), before: self.work.before.clone() };
        let body = postcard::to_allocvec(&snapshot)
            .map_err(|_| DeformableError::Snapshot { reason: "it could not be encoded" })?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        bytes.extend(body);
        Ok(bytes)
    }

    /// Bytes ⇒ system.
    ///
    /// # Errors
    /// Bytes that are no snapshot, damaged, or inconsistent.
    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, DeformableError> {
        let wrong = |reason| DeformableError::Snapshot { reason };
        let body = bytes.strip_prefix(&MAGIC).ok_or(wrong("not a snapshot of this version"))?;
        let (sum, body) = body.split_first_chunk::<8>().ok_or(wrong("it is cut off"))?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(wrong("checksum differs"));
        }
        let Snapshot { state, before } =
            postcard::from_bytes(body).map_err(|_| wrong("it could not be decoded"))?;
        state.check()?;
        let n = state.model.len();
        if before.as_ref().is_some_and(|(x, v, _)| x.len() != n || v.len() != n) {
            return Err(wrong("arrays differ in length"));
        }
        let mut system = Self { state, changed: true, ..Self::default() };
        // Verified surfaces stay verified: the search would find nothing.
        system.prepare();
        system.work.before = before;
        Ok(system)
    }
}

impl State {
    fn check(&self) -> Result<(), DeformableError> {
        self.model.validate()?;
        let wrong = |reason| Err(DeformableError::Snapshot { reason });
        let n = self.model.len();
        if [self.axis.len(), self.group.len(), self.target.len()].iter().any(|&k| k != n) {
            return wrong("arrays differ in length");
        }
        let vertex = |v: u32| (v as usize) < n;
        if !self.group.iter().all(|&g| (g as usize) < self.friction.len())
            || !self.affines.iter().all(|a| a.vertices.iter().all(|&v| vertex(v)))
            || !self.pressures.iter().all(|p| p.triangles.iter().flatten().all(|&v| vertex(v)))
            || !self.bodies.iter().all(|b| {
                (b.first as usize) + 4 <= n
                    && b.triangles.iter().flatten().all(|&v| (v as usize) < b.local.len())
            })
        {
            return wrong("an index is out of range");
        }
        for a in &self.attachments {
            let anchor = match a.anchor {
                crate::forces::Anchor::Point(_) => true,
                crate::forces::Anchor::Vertex(v) => vertex(v),
                crate::forces::Anchor::Body(b, _) => (b as usize) < self.bodies.len(),
            };
            if !(vertex(a.vertex) && anchor) {
                return wrong("an index is out of range");
            }
        }
        Ok(())
    }
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &b| (sum ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}
