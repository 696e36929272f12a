//! A queue of appointments: always gives the earliest, and lets any be moved or cancelled.
//!
//! A binary heap over (time, tie), with the place of every entry remembered. Ties are broken by a number that does not
//! depend on the order in which entries were made, so that equal times are met in the same order in every run.

/// Appointments of entries, numbered by their owner.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    heap: Vec<Appointment>,
    /// Entry ⇒ its place in the heap, `NOWHERE` if it has no appointment.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Appointment {
    time: f64,
    tie: u64,
    entry: u32,
}

impl Appointment {
    #[inline]
    fn before(&self, other: &Self) -> bool {
        self.time < other.time || (self.time == other.time && self.tie < other.tie)
    }
}

const NOWHERE: u32 = u32::MAX;

impl Agenda {
    /// The earliest appointment.
    pub fn first(&self) -> Option<(f64, u32)> {
        self.heap.first().map(|first| (first.time, first.entry))
    }

    /// All appointments, in no particular order.
    #[cfg(test)]
    pub fn appointments(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        self.heap.iter().map(|appointment| (appointment.time, appointment.entry))
    }

    /// Whether an entry has an appointment.
    pub fn has(&self, entry: u32) -> bool {
        self.places.get(entry as usize).is_some_and(|place| *place != NOWHERE)
    }

    /// When an entry has its appointment.
    pub fn time(&self, entry: u32) -> Option<f64> {
        let place = self.places.get(entry as usize).filter(|place| **place != NOWHERE)?;
        self.heap.get(*place as usize).map(|appointment| appointment.time)
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Makes or moves the appointment of an entry. An infinite time cancels it; NaN counts as now-or-never and cancels too.
    pub fn set(&mut self, entry: u32, time: f64, tie: u64) {
        if time.is_nan() || time == f64::INFINITY {
            self.cancel(entry);
            return;
        }
        if self.places.len() <= entry as usize {
            self.places.resize(entry as usize + 1, NOWHERE);
        }
        let appointment = Appointment { time, tie, entry };
        let place = self.places[entry as usize];
        if place == NOWHERE {
            self.heap.push(appointment);
            self.rise(self.heap.len() - 1);
        } else {
            let place = place as usize;
            let earlier = appointment.before(&self.heap[place]);
            self.heap[place] = appointment;
            if earlier { self.rise(place) } else { self.sink(place) }
        }
    }

    /// Forgets the appointment of an entry, if it has one.
    pub fn cancel(&mut self, entry: u32) {
        let Some(place) = self.places.get(entry as usize).copied().filter(|place| *place != NOWHERE) else {
            return;
        };
        self.places[entry as usize] = NOWHERE;
        let Some(last) = self.heap.pop() else { return };
        let place = place as usize;
        if place == self.heap.len() {
            return;
        }
        let earlier = last.before(&self.heap[place]);
        self.heap[place] = last;
        if earlier { self.rise(place) } else { self.sink(place) }
    }

    fn rise(&mut self, mut place: usize) {
        let moving = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if !moving.before(&self.heap[parent]) {
                break;
            }
            self.settle(place, self.heap[parent]);
            place = parent;
        }
        self.settle(place, moving);
    }

    fn sink(&mut self, mut place: usize) {
        let moving = self.heap[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1].before(&self.heap[child]) {
                child += 1;
            }
            if !self.heap[child].before(&moving) {
                break;
            }
            self.settle(place, self.heap[child]);
            place = child;
        }
        self.settle(place, moving);
    }

    #[inline]
    fn settle(&mut self, place: usize, appointment: Appointment) {
        self.heap[place] = appointment;
        self.places[appointment.entry as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// After any sequence of changes the first appointment is the least of a plain list.
        #[test]
        fn the_first_is_the_least(changes in prop::collection::vec((0u32..20, 0u8..8), 1..200)) {
            let mut agenda = Agenda::default();
            let mut plain: Vec<Option<(f64, u64)>> = vec![None; 20];
            for (entry, what) in changes {
                let tie = u64::from(entry ^ 5);
                if what == 0 {
                    agenda.cancel(entry);
                    plain[entry as usize] = None;
                } else {
                    let time = f64::from(what / 2);
                    agenda.set(entry, time, tie);
                    plain[entry as usize] = Some((time, tie));
                }
                let least = plain.iter().flatten().min_by(|a, b| a.partial_cmp(b).unwrap()).map(|least| least.0);
                prop_assert_eq!(agenda.first().map(|first| first.0), least);
                prop_assert_eq!(agenda.len(), plain.iter().flatten().count());
                if let Some((time, entry)) = agenda.first() {
                    prop_assert_eq!(plain[entry as usize].map(|known| known.0), Some(time));
                }
            }
        }
    }
}
