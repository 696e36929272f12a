//! Several threads that go through the stages of a step together.
//!
//! Every place is written by one thread only and by nothing but what was there before the stage, so neither the number of threads
//! nor who comes first shows in the result.
//!
//! A step has a dozen such stages of some tens of microseconds, as long as it takes to start a thread. Threads are therefore
//! lent (`Helper`): one that has done its part waits for the next with its eyes open for a moment, then lies down until it is woken.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;

/// A slice that several threads may write to, each in places of its own.
#[derive(Debug)]
pub struct Shared<'s, T> {
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
    /// Borrows a slice.
    pub const fn new(slice: &'s mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), life: PhantomData }
    }

    /// How many places there are.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Has a place brought into the cache before it is needed; nothing happens if there is none.
    #[inline(always)]
    pub fn fetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if index < self.length {
            for offset in (0..size_of::<T>()).step_by(64) {
                // SAFETY: the place exists, and nothing is read or written that anybody could notice.
                unsafe {
                    let line = self.start.add(index).cast::<i8>().add(offset);
                    core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(line);
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }

    /// Some places to write to.
    ///
    /// # Safety
    /// The places exist and nobody else touches them meanwhile.
    #[allow(clippy::mut_from_ref)]
    pub const unsafe fn range_mut(&self, range: Range<usize>) -> &'s mut [T] {
        debug_assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start) }
    }

    /// What stands in a place.
    ///
    /// # Safety
    /// The place exists and nobody writes to it meanwhile.
    #[inline(always)]
    pub const unsafe fn get(&self, index: usize) -> &'s T {
        debug_assert!(index < self.length);
        // SAFETY: promised by the caller.
        unsafe { &*self.start.add(index) }
    }

    /// A place to write to.
    ///
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

/// Where the work stands: which stage is open, and what of it has been taken and done.
///
/// All threads go through the same stages in the same order. Pieces of the open stage are taken by whoever comes, from the front
/// or from the back; who comes late finds the stage closed and goes on to the next. So nobody ever waits for a thread that the
/// system does not let run, unless it was stopped in the middle of a piece.
#[derive(Debug)]
struct Board {
    members: usize,
    /// Looks before the processor is offered to somebody else.
    patience: u32,
    /// Number of the open stage (32 bits), pieces taken from the front and from the back (16 bits each).
    open: AtomicU64,
    /// Pieces of the open stage that are done.
    done: AtomicU32,
    /// Somebody has panicked, so a piece will never be done.
    broken: AtomicBool,
}

/// Pieces of a stage for each thread: enough for those who are fast to help the others.
const PIECES: usize = 4;
/// Looks at the board before the processor is offered to somebody else; a piece is mostly done sooner.
const PATIENCE: u32 = 10_000;
/// The same where there are more threads than processors, so that somebody may be waiting for this one.
const COURTESY: u32 = 50;

/// One of the threads.
#[derive(Debug)]
pub struct Worker<'t> {
    index: usize,
    board: &'t Board,
    /// The stage it is at.
    stage: Cell<u32>,
}

impl Board {
    fn new(members: usize) -> Self {
        Self {
            members,
            patience: if members <= processors() { PATIENCE } else { COURTESY },
            open: AtomicU64::new(0),
            done: AtomicU32::new(0),
            broken: AtomicBool::new(false),
        }
    }
}

impl<'t> Worker<'t> {
    const fn new(index: usize, board: &'t Board) -> Self {
        Self { index, board, stage: Cell::new(0) }
    }

    /// Does its part of `range` in pieces of at least so many, and goes on when all of it has been done by somebody: what was
    /// written before is seen by all after.
    pub fn stage(&self, range: Range<usize>, least: usize, mut work: impl FnMut(Range<usize>)) {
        let (start, count) = (range.start, range.len());
        if count == 0 {
            return;
        }
        if self.board.members == 1 {
            return work(range);
        }
        let most = (PIECES * self.board.members).min(usize::from(u16::MAX));
        let pieces = (count / least.max(1)).clamp(1, most);
        while let Some(piece) = self.take(pieces as u64) {
            work(start + count * piece / pieces..start + count * (piece + 1) / pieces);
            self.finish(pieces as u32);
        }
        self.stage.set(self.stage.get().wrapping_add(1));
    }

    /// Something that only one may do.
    pub fn alone(&self, mut work: impl FnMut()) {
        self.stage(0..1, 1, |_| work());
    }

    /// A piece of the present stage that nobody has taken; none if it is over.
    fn take(&self, pieces: u64) -> Option<usize> {
        let mut looks = 0;
        let mut seen = self.board.open.load(Ordering::Acquire);
        loop {
            let stage = (seen >> 32) as u32;
            // Stages ahead of the open one are waited for, those behind it are over.
            let ahead = self.stage.get().wrapping_sub(stage).cast_signed();
            if ahead < 0 {
                return None;
            }
            let (front, back) = ((seen >> 16) & 0xffff, seen & 0xffff);
            if ahead > 0 || front + back >= pieces {
                assert!(
                    !self.board.broken.load(Ordering::Relaxed),
                    "another thread of the team has panicked"
                );
                look_again(&mut looks, self.board.patience);
                seen = self.board.open.load(Ordering::Acquire);
                continue;
            }
            // The same threads get about the same pieces in all stages: what they need is in their caches.
            let (piece, taken) = if self.index.is_multiple_of(2) {
                (front, seen + (1 << 16))
            } else {
                (pieces - 1 - back, seen + 1)
            };
            match self.board.open.compare_exchange_weak(seen, taken, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(piece as usize),
                Err(now) => seen = now,
            }
        }
    }

    /// Reports a piece; the last one opens the next stage.
    fn finish(&self, pieces: u32) {
        if self.board.done.fetch_add(1, Ordering::AcqRel) + 1 == pieces {
            self.board.done.store(0, Ordering::Relaxed);
            let next = self.stage.get().wrapping_add(1);
            self.board.open.store(u64::from(next) << 32, Ordering::Release);
        }
    }
}

/// How many there are, as far as the system tells.
fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Waits for a moment before the next look: longer, and leaving the processor to others, after many.
fn look_again(looks: &mut u32, patience: u32) {
    *looks += 1;
    if *looks < patience { std::hint::spin_loop() } else { std::thread::yield_now() }
}

/// A number of things that threads take as they come, for work of which nobody knows how long it lasts.
#[derive(Debug)]
pub struct Portions {
    length: usize,
    taken: AtomicUsize,
}

impl Portions {
    /// How many things are taken at a time.
    const SIZE: usize = 64;

    /// So many things.
    pub const fn new(length: usize) -> Self {
        Self { length, taken: AtomicUsize::new(0) }
    }

    /// Things that nobody else gets, as long as there are any.
    pub fn take(&self) -> Option<Range<usize>> {
        let start = self.taken.fetch_add(Self::SIZE, Ordering::Relaxed);
        (start < self.length).then(|| start..self.length.min(start + Self::SIZE))
    }
}

/// What a helper is to do; all of it outlives the work, since whoever lends it waits.
#[derive(Clone, Copy)]
struct Job {
    work: *const (dyn Fn(&Worker<'_>) + Sync),
    board: *const Board,
    index: usize,
}

/// A helper lies down and has to be woken.
const LYING: u32 = 0;
/// A helper looks out for work.
const WAITING: u32 = 1;
/// A helper has been given work and may not have noticed.
const GIVEN: u32 = 2;
/// A helper is at work.
const WORKING: u32 = 3;
/// Looks for work before a helper lies down.
const VIGILANCE: u32 = PATIENCE + 100;

/// A thread that is lent.
struct Helper {
    state: AtomicU32,
    job: Mutex<Option<Job>>,
    /// What it panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    thread: OnceLock<Thread>,
}

// SAFETY: a job is followed only between being given and being reported done, while its owner waits.
unsafe impl Send for Helper {}
// SAFETY: as above.
unsafe impl Sync for Helper {}

/// Those at nobody's service.
static IDLE: Mutex<Vec<Arc<Helper>>> = Mutex::new(Vec::new());

fn idle() -> std::sync::MutexGuard<'static, Vec<Arc<Helper>>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Helper {
    /// Somebody idle, or new; nobody if the system has no more threads.
    fn hire() -> Option<Arc<Self>> {
        if let Some(helper) = idle().pop() {
            return Some(helper);
        }
        let helper = Arc::new(Self {
            state: AtomicU32::new(WAITING),
            job: Mutex::new(None),
            panic: Mutex::new(None),
            thread: OnceLock::new(),
        });
        let own = Arc::clone(&helper);
        let thread = std::thread::Builder::new().name("team".into()).spawn(move || own.serve()).ok()?;
        let _ = helper.thread.set(thread.thread().clone());
        Some(helper)
    }

    /// Does one job after the other, as long as the program lasts.
    fn serve(&self) {
        let mut looks = 0;
        loop {
            match self.state.load(Ordering::Acquire) {
                GIVEN if self.turn(GIVEN, WORKING) => {
                    self.work();
                    self.state.store(WAITING, Ordering::Release);
                    looks = 0;
                }
                WAITING if looks < VIGILANCE => look_again(&mut looks, PATIENCE),
                WAITING => {
                    self.turn(WAITING, LYING);
                }
                LYING => std::thread::park(),
                _ => {}
            }
        }
    }

    /// Whether the state was this one, which it is not any more.
    fn turn(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn work(&self) {
        let Some(job) = self.job.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        // SAFETY: both outlive the job.
        let (work, board) = unsafe { (&*job.work, &*job.board) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(&Worker::new(job.index, board)))) {
            board.broken.store(true, Ordering::Relaxed);
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }

    fn give(&self, job: Job) {
        *self.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
        if self.state.swap(GIVEN, Ordering::AcqRel) == LYING
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// The helpers of one piece of work; nobody gets past its end before they are done.
struct Crew<'g> {
    helpers: [Option<Arc<Helper>>; MOST_HELPERS],
    board: &'g Board,
}

/// Threads beyond these would only wait for each other.
const MOST_HELPERS: usize = 63;

impl Crew<'_> {
    /// Waits until all are done, and lets them go ⇒ the first panic, if any.
    fn dismiss(&mut self) -> Option<Box<dyn Any + Send>> {
        let mut panic = None;
        for helper in self.helpers.iter_mut().filter_map(Option::take) {
            // Who has not noticed by now need not come at all.
            let mut looks = 0;
            while !helper.turn(GIVEN, WAITING) && helper.state.load(Ordering::Acquire) == WORKING {
                look_again(&mut looks, self.board.patience);
            }
            // All are taken, or one would come up again in the next work.
            let theirs = helper.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
            panic = panic.or(theirs);
            idle().push(helper);
        }
        panic
    }
}

impl Drop for Crew<'_> {
    /// Only finds somebody if the own part of the work panicked.
    fn drop(&mut self) {
        self.board.broken.store(true, Ordering::Relaxed);
        self.dismiss();
    }
}

/// Lets so many threads do the work together, fewer if there are no more.
///
/// ```
/// use rattleback_numerics::team::{Portions, together};
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let (portions, sum) = (Portions::new(1000), AtomicUsize::new(0));
/// together(4, |_| {
///     while let Some(range) = portions.take() {
///         sum.fetch_add(range.sum::<usize>(), Ordering::Relaxed);
///     }
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
pub fn together(threads: usize, work: impl Fn(&Worker<'_>) + Sync) {
    let mut helpers = [const { None }; MOST_HELPERS];
    let wanted = threads.saturating_sub(1).min(MOST_HELPERS);
    let mut members = 1;
    for place in &mut helpers[..wanted] {
        *place = Helper::hire();
        members += usize::from(place.is_some());
    }
    if members == 1 {
        return work(&Worker::new(0, &Board::new(1)));
    }
    let board = Board::new(members);
    let mut crew = Crew { helpers, board: &board };
    let shared: &(dyn Fn(&Worker<'_>) + Sync) = &work;
    // SAFETY: only the lifetime is taken off; the crew waits for everybody before it goes, whatever happens.
    let shared: *const (dyn Fn(&Worker<'_>) + Sync) = unsafe { std::mem::transmute(shared) };
    for (index, helper) in crew.helpers.iter().flatten().enumerate() {
        helper.give(Job { work: shared, board: &raw const board, index: index + 1 });
    }
    work(&Worker::new(0, &board));
    if let Some(panic) = crew.dismiss() {
        resume_unwind(panic);
    }
}

/// Shares a number of things out among so many threads, in pieces of at least so many.
pub fn spread(threads: usize, count: usize, least: usize, work: impl Fn(Range<usize>) + Sync) {
    // Nobody is woken for what one does alone.
    let threads = threads.min(count / least.max(1));
    together(threads, |worker| worker.stage(0..count, least, &work));
}

/// Does something with every item, on so many threads.
pub fn each<T: Send>(threads: usize, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let shared = Shared::new(items);
    spread(threads, shared.len(), 1, |range| {
        for index in range {
            // SAFETY: pieces do not overlap.
            work(index, unsafe { shared.get_mut(index) });
        }
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

    /// One member's panic reaches the caller instead of leaving the others at the gate, and the next work is done as ever.
    #[test]
    fn a_panic_reaches_the_caller() {
        for who in [0, 50, 99] {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                together(3, |worker| {
                    worker.stage(0..100, 1, |range| assert!(!range.contains(&who), "on purpose"));
                    worker.stage(0..100, 1, |_| {});
                });
            }));
            assert!(outcome.is_err());
        }
        let count = AtomicUsize::new(0);
        together(3, |worker| {
            worker.stage(0..100, 1, |range| {
                count.fetch_add(range.len(), Ordering::Relaxed);
            });
        });
        assert_eq!(count.into_inner(), 100);
    }

    /// Work within work, and from several threads at once.
    #[test]
    fn teams_do_not_get_in_each_others_way() {
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        together(3, |worker| {
                            worker.alone(|| {
                                together(2, |worker| {
                                    worker.alone(|| {
                                        count.fetch_add(1, Ordering::Relaxed);
                                    });
                                });
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 4 * 200);
    }

    #[test]
    fn stages_see_each_other() {
        for threads in 1..5 {
            let mut numbers = vec![0_u64; 1000];
            let shared = Shared::new(&mut numbers);
            together(threads, |worker| {
                for stage in 0..50 {
                    worker.stage(0..1000, 7, |range| {
                        for i in range {
                            // SAFETY: pieces do not overlap; in odd stages the neighbour is only read.
                            unsafe {
                                if stage % 2 == 0 {
                                    *shared.get_mut(i) += 1;
                                } else {
                                    assert_eq!(*shared.get((i + 500) % 1000), stage / 2 + 1);
                                }
                            }
                        }
                    });
                }
            });
            assert!(numbers.iter().all(|n| *n == 25));
        }
    }
}
