//! Several threads that go through the stages of a step together.
//!
//! Every place is written by one thread only and by nothing but what was there before the stage, so neither the number of threads
//! nor who comes first shows in the result.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A slice that several threads may write to, each in places of its own.
#[derive(Debug)]
pub(super) struct Shared<'s, T> {
    start: *mut T,
    length: usize,
    life: PhantomData<&'s mut [T]>,
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<'_, T> {}

// SAFETY: every access goes through `get` and `get_mut`, whose callers promise not to meet.
unsafe impl<T> Send for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<'_, T> {}

impl<'s, T> Shared<'s, T> {
    pub const fn new(slice: &'s mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), life: PhantomData }
    }

    pub const fn len(&self) -> usize {
        self.length
    }

    /// # Safety
    /// The place exists and nobody writes to it meanwhile.
    #[inline(always)]
    pub const unsafe fn get(&self, index: usize) -> &'s T {
        debug_assert!(index < self.length);
        // SAFETY: promised by the caller.
        unsafe { &*self.start.add(index) }
    }

    /// # Safety
    /// The place exists and nobody else touches it meanwhile.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub const unsafe fn get_mut(&self, index: usize) -> &'s mut T {
        debug_assert!(index < self.length);
        // SAFETY: promised by the caller.
        unsafe { &mut *self.start.add(index) }
    }
}

/// Where threads wait for each other between stages.
#[derive(Debug)]
struct Gate {
    members: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

/// Looks at the gate before the processor is offered to somebody else.
const PATIENCE: u32 = 2000;

/// One of the threads.
#[derive(Debug)]
pub(in crate::simulator) struct Worker<'t> {
    index: usize,
    gate: &'t Gate,
}

impl Worker<'_> {
    /// Whether it does what only one may do.
    pub const fn is_first(&self) -> bool {
        self.index == 0
    }

    /// Its share of a number of things.
    pub const fn share(&self, range: Range<usize>) -> Range<usize> {
        let (start, count) = (range.start, range.end - range.start);
        let members = self.gate.members;
        start + count * self.index / members..start + count * (self.index + 1) / members
    }

    /// Waits until all have come here: what they wrote before is seen by all after.
    pub fn meet(&self) {
        if self.gate.members == 1 {
            return;
        }
        let round = self.gate.round.load(Ordering::Acquire);
        if self.gate.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.gate.members {
            self.gate.arrived.store(0, Ordering::Relaxed);
            self.gate.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.gate.round.load(Ordering::Acquire) == round {
            looks += 1;
            if looks < PATIENCE { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// A number of things that threads take as they come, for work of which nobody knows how long it lasts.
#[derive(Debug)]
pub(super) struct Portions {
    length: usize,
    taken: AtomicUsize,
}

impl Portions {
    /// How many things are taken at a time.
    const SIZE: usize = 64;

    pub const fn new(length: usize) -> Self {
        Self { length, taken: AtomicUsize::new(0) }
    }

    /// Things that nobody else gets, as long as there are any.
    pub fn take(&self) -> Option<Range<usize>> {
        let start = self.taken.fetch_add(Self::SIZE, Ordering::Relaxed);
        (start < self.length).then(|| start..self.length.min(start + Self::SIZE))
    }
}

/// Lets so many threads do the work together.
pub(in crate::simulator) fn together(threads: usize, work: impl Fn(&Worker<'_>) + Sync) {
    let gate = Gate { members: threads.max(1), arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) };
    if threads <= 1 {
        return work(&Worker { index: 0, gate: &gate });
    }
    let (work, gate) = (&work, &gate);
    std::thread::scope(|scope| {
        for index in 1..threads {
            scope.spawn(move || work(&Worker { index, gate }));
        }
        work(&Worker { index: 0, gate });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever comes, everything is taken once.
    #[test]
    fn portions_are_the_whole() {
        for length in [0, 1, 64, 1000] {
            let mut numbers = vec![0_u64; length];
            let (shared, portions) = (Shared::new(&mut numbers), Portions::new(length));
            together(3, |_| {
                for i in std::iter::from_fn(|| portions.take()).flatten() {
                    // SAFETY: portions do not overlap.
                    unsafe { *shared.get_mut(i) += 1 };
                }
            });
            assert!(numbers.iter().all(|n| *n == 1));
        }
    }

    #[test]
    fn stages_see_each_other() {
        for threads in 1..5 {
            let mut numbers = vec![0_u64; 1000];
            let shared = Shared::new(&mut numbers);
            together(threads, |worker| {
                for stage in 0..50 {
                    for i in worker.share(0..1000) {
                        // SAFETY: shares do not overlap; in odd stages the neighbour is only read.
                        unsafe {
                            if stage % 2 == 0 {
                                *shared.get_mut(i) += 1;
                            } else {
                                assert_eq!(*shared.get((i + 500) % 1000), stage / 2 + 1);
                            }
                        }
                    }
                    worker.meet();
                }
            });
            assert!(numbers.iter().all(|n| *n == 25));
        }
    }
}
