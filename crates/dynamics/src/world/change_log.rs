//! Which bodies were touched from outside a step, so that a simulator need not look at all of them.

use super::BodyId;
use serde::{Deserialize, Serialize};

/// Entries that are always kept.
const KEPT: usize = 1 << 16;

/// The last changes; every change is a revision.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ChangeLog {
    /// Revision before the first entry.
    start: u64,
    entries: Vec<BodyId>,
}

impl ChangeLog {
    pub const fn revision(&self) -> u64 {
        self.start.wrapping_add(self.entries.len() as u64)
    }

    pub fn note(&mut self, body: BodyId) {
        if self.entries.len() >= 2 * KEPT {
            self.entries.drain(..KEPT);
            self.start = self.start.wrapping_add(KEPT as u64);
        }
        self.entries.push(body);
    }

    /// Something that concerns every body.
    pub fn note_everything(&mut self) {
        self.start = self.revision().wrapping_add(1);
        self.entries.clear();
    }

    pub fn since(&self, revision: u64) -> Option<&[BodyId]> {
        let skipped = revision.checked_sub(self.start)?;
        self.entries.get(usize::try_from(skipped).ok()?..)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Handle;
    use super::*;

    #[test]
    fn tells_what_changed_or_that_it_forgot() {
        let mut change_log = ChangeLog::default();
        let id = |slot| BodyId::from_parts(slot, 0);
        for slot in 0..3 * KEPT as u32 {
            change_log.note(id(slot));
        }
        let now = change_log.revision();
        assert_eq!(change_log.since(now), Some(&[][..]));
        assert_eq!(change_log.since(now - 2), Some(&[id(3 * KEPT as u32 - 2), id(3 * KEPT as u32 - 1)][..]));
        assert_eq!(change_log.since(0), None);
        assert_eq!(change_log.since(now + 1), None);
    }
}
