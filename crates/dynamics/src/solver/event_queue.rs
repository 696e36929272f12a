//! Event queue: an indexed binary heap, in which any event can be moved or cancelled.
//!
//! The heap is ordered by (time, key), and the position of every entry is stored. Keys do not depend on the
//! order in which events were scheduled, so that simultaneous events have the same order in every run.

/// Events of entries (pairs or bodies), one at most for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<QueuedEvent>,
    /// Entry ⇒ its position in the heap, `NO_INDEX` if it has no event.
    positions: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct QueuedEvent {
    time: f64,
    key: u64,
    entry: u32,
}

impl QueuedEvent {
    #[inline]
    fn before(&self, other: &Self) -> bool {
        self.time < other.time || (self.time == other.time && self.key < other.key)
    }
}

const NO_INDEX: u32 = u32::MAX;

impl EventQueue {
    /// Time and entry of the earliest event.
    pub fn first(&self) -> Option<(f64, u32)> {
        self.heap.first().map(|first| (first.time, first.entry))
    }

    /// Removes the earliest event ⇒ its entry.
    pub fn pop(&mut self) -> Option<u32> {
        let (_, entry) = self.first()?;
        self.cancel(entry);
        Some(entry)
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.positions.clear();
    }

    /// All events, in no particular order.
    #[cfg(test)]
    pub fn events(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        self.heap.iter().map(|event| (event.time, event.entry))
    }

    /// Whether an entry has an event.
    pub fn has(&self, entry: u32) -> bool {
        self.positions.get(entry as usize).is_some_and(|position| *position != NO_INDEX)
    }

    /// Time of the event of an entry.
    pub fn time(&self, entry: u32) -> Option<f64> {
        let position = self.positions.get(entry as usize).filter(|position| **position != NO_INDEX)?;
        self.heap.get(*position as usize).map(|event| event.time)
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Schedules or moves the event of an entry. An infinite time or NaN cancels it.
    pub fn set(&mut self, entry: u32, time: f64, key: u64) {
        if time.is_nan() || time == f64::INFINITY {
            self.cancel(entry);
            return;
        }
        if self.positions.len() <= entry as usize {
            self.positions.resize(entry as usize + 1, NO_INDEX);
        }
        let event = QueuedEvent { time, key, entry };
        let position = self.positions[entry as usize];
        if position == NO_INDEX {
            self.heap.push(event);
            self.sift_up(self.heap.len() - 1);
        } else {
            let position = position as usize;
            let earlier = event.before(&self.heap[position]);
            self.heap[position] = event;
            if earlier { self.sift_up(position) } else { self.sift_down(position) }
        }
    }

    /// Cancels the event of an entry, if it has one.
    pub fn cancel(&mut self, entry: u32) {
        let Some(position) =
            self.positions.get(entry as usize).copied().filter(|position| *position != NO_INDEX)
        else {
            return;
        };
        self.positions[entry as usize] = NO_INDEX;
        let Some(last) = self.heap.pop() else { return };
        let position = position as usize;
        if position == self.heap.len() {
            return;
        }
        let earlier = last.before(&self.heap[position]);
        self.heap[position] = last;
        if earlier { self.sift_up(position) } else { self.sift_down(position) }
    }

    fn sift_up(&mut self, mut position: usize) {
        let moving = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / 2;
            if !moving.before(&self.heap[parent]) {
                break;
            }
            self.place_at(position, self.heap[parent]);
            position = parent;
        }
        self.place_at(position, moving);
    }

    fn sift_down(&mut self, mut position: usize) {
        let moving = self.heap[position];
        loop {
            let mut child = 2 * position + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1].before(&self.heap[child]) {
                child += 1;
            }
            if !self.heap[child].before(&moving) {
                break;
            }
            self.place_at(position, self.heap[child]);
            position = child;
        }
        self.place_at(position, moving);
    }

    #[inline]
    fn place_at(&mut self, position: usize, event: QueuedEvent) {
        self.heap[position] = event;
        self.positions[event.entry as usize] = position as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// After any sequence of changes the first event is the least of a plain list.
        #[test]
        fn first_event_is_the_least(changes in prop::collection::vec((0u32..20, 0u8..8), 1..200)) {
            let mut pair_events = EventQueue::default();
            let mut plain: Vec<Option<(f64, u64)>> = vec![None; 20];
            for (entry, what) in changes {
                let key = u64::from(entry ^ 5);
                if what == 0 {
                    pair_events.cancel(entry);
                    plain[entry as usize] = None;
                } else {
                    let time = f64::from(what / 2);
                    pair_events.set(entry, time, key);
                    plain[entry as usize] = Some((time, key));
                }
                let least = plain.iter().flatten().min_by(|a, b| a.partial_cmp(b).unwrap()).map(|least| least.0);
                prop_assert_eq!(pair_events.first().map(|first| first.0), least);
                prop_assert_eq!(pair_events.len(), plain.iter().flatten().count());
                if let Some((time, entry)) = pair_events.first() {
                    prop_assert_eq!(plain[entry as usize].map(|known| known.0), Some(time));
                }
            }
        }
    }
}
