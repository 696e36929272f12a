//! A team of threads that runs the stages of a step, with a barrier after each stage.
//!
//! Results are deterministic: within a stage each element is written by one thread only, from values of
//! earlier stages, so neither the number of threads nor their order changes a bit of the result.
//!
//! A step has a dozen such stages of some tens of microseconds each, as long as it takes to start a thread.
//! Threads therefore come from a pool (`PoolThread`): an idle one spins briefly, then parks until it is given
//! work.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;

/// A slice that several threads write to, each to elements of its own.
///
/// Access is `unsafe`: the caller guarantees that an element that is written is accessed by one thread only,
/// until the next barrier ([`Worker::stage`]).
#[derive(Debug)]
pub struct Shared<'s, T> {
    start: *mut T,
    length: usize,
    lifetime: PhantomData<&'s mut [T]>,
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<'_, T> {}

// SAFETY: `get_mut` and `range_mut` hand out exclusive references, which may go to another thread if `T:
// Send`; their callers guarantee that no two of them overlap. `get` hands out shared references and is only
// there for `T: Sync`.
unsafe impl<T: Send> Send for Shared<'_, T> {}
// SAFETY: a `Shared` is `Copy`, so a reference to it permits no more than the value itself: as above.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'s, T> Shared<'s, T> {
    /// Borrows a slice.
    pub const fn new(slice: &'s mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), lifetime: PhantomData }
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether the slice is empty.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Prefetches an element into the cache; does nothing if the index is out of bounds.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if index < self.length {
            for offset in (0..size_of::<T>()).step_by(64) {
                // SAFETY: the pointer stays within element `index`, which exists; a prefetch neither reads
                // nor writes memory as far as the program is concerned.
                unsafe {
                    let line = self.start.add(index).cast::<i8>().add(offset);
                    core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(line);
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }

    /// Exclusive reference to a range of elements.
    ///
    /// # Safety
    /// The range is within bounds, and no other reference to its elements is used while this one is.
    #[allow(clippy::mut_from_ref)]
    pub const unsafe fn range_mut(&self, range: Range<usize>) -> &'s mut [T] {
        debug_assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: in bounds and free of aliases by the contract of this function.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start) }
    }

    /// Shared reference to an element.
    ///
    /// # Safety
    /// The index is within bounds, and the element is not written while the reference is used.
    #[inline(always)]
    pub const unsafe fn get(&self, index: usize) -> &'s T
    where
        T: Sync,
    {
        debug_assert!(index < self.length);
        // SAFETY: in bounds and free of aliases by the contract of this function.
        unsafe { &*self.start.add(index) }
    }

    /// Exclusive reference to an element.
    ///
    /// # Safety
    /// The index is within bounds, and no other reference to the element is used while this one is.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub const unsafe fn get_mut(&self, index: usize) -> &'s mut T {
        debug_assert!(index < self.length);
        // SAFETY: in bounds and free of aliases by the contract of this function.
        unsafe { &mut *self.start.add(index) }
    }
}

/// Barrier between stages with dynamic scheduling within each: number of the open stage, its pieces taken and
/// done.
///
/// All threads run the same stages in the same order. Pieces of the open stage are taken by the threads that
/// are running, from the front or from the back; a thread that arrives late finds the stage closed and
/// continues with the next. The barrier therefore never waits for a thread that is not scheduled, unless that
/// thread was preempted within a piece.
#[derive(Debug)]
struct Barrier {
    threads: usize,
    /// Polls before a waiting thread yields its processor.
    spin_limit: u32,
    /// Number of the open stage (32 bits), pieces taken from the front and from the back (16 bits each).
    open: AtomicU64,
    /// Pieces of the open stage that are done.
    done: AtomicU32,
    /// A thread has panicked, so a piece will never be done.
    poisoned: AtomicBool,
}

/// Pieces of a stage per thread: enough to balance the load between fast and slow threads.
const PIECES_PER_THREAD: usize = 4;
/// Polls before a waiting thread yields its processor; most pieces finish sooner.
const SPIN_LIMIT: u32 = 10_000;
/// The same with more threads than processors, where the awaited thread may need this processor.
const OVERSUBSCRIBED_SPIN_LIMIT: u32 = 50;

/// A thread of the team, as the work sees it.
#[derive(Debug)]
pub struct Worker<'t> {
    index: usize,
    barrier: &'t Barrier,
    /// Number of the stage this thread has reached.
    stage: Cell<u32>,
}

impl Barrier {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            spin_limit: if threads <= processors() { SPIN_LIMIT } else { OVERSUBSCRIBED_SPIN_LIMIT },
            open: AtomicU64::new(0),
            done: AtomicU32::new(0),
            poisoned: AtomicBool::new(false),
        }
    }
}

impl<'t> Worker<'t> {
    const fn new(index: usize, barrier: &'t Barrier) -> Self {
        Self { index, barrier, stage: Cell::new(0) }
    }

    /// Takes pieces of `range`, of at least `min_piece` indices each, until none is left, and returns when
    /// all of the range has been processed: writes of the stage are visible to all threads in the next.
    pub fn stage(&self, range: Range<usize>, min_piece: usize, mut work: impl FnMut(Range<usize>)) {
        let (start, count) = (range.start, range.len());
        if count == 0 {
            return;
        }
        if self.barrier.threads == 1 {
            return work(range);
        }
        let max_pieces = (PIECES_PER_THREAD * self.barrier.threads).min(usize::from(u16::MAX));
        let pieces = (count / min_piece.max(1)).clamp(1, max_pieces);
        while let Some(piece) = self.take(pieces as u64) {
            work(start + count * piece / pieces..start + count * (piece + 1) / pieces);
            self.finish(pieces as u32);
        }
        self.stage.set(self.stage.get().wrapping_add(1));
    }

    /// A stage that a single thread runs.
    pub fn alone(&self, mut work: impl FnMut()) {
        self.stage(0..1, 1, |_| work());
    }

    /// Takes a piece of the present stage; none if all are done.
    fn take(&self, pieces: u64) -> Option<usize> {
        let mut polls = 0;
        let mut seen = self.barrier.open.load(Ordering::Acquire);
        loop {
            let stage = (seen >> 32) as u32;
            // This thread waits if its stage is not open yet, and leaves if it is closed.
            let ahead = self.stage.get().wrapping_sub(stage).cast_signed();
            if ahead < 0 {
                return None;
            }
            let (front, back) = ((seen >> 16) & 0xffff, seen & 0xffff);
            if ahead > 0 || front + back >= pieces {
                assert!(
                    !self.barrier.poisoned.load(Ordering::Relaxed),
                    "another thread of the team has panicked"
                );
                spin(&mut polls, self.barrier.spin_limit);
                seen = self.barrier.open.load(Ordering::Acquire);
                continue;
            }
            // A thread gets about the same pieces in all stages, so that their data stay in its cache.
            let (piece, taken) = if self.index.is_multiple_of(2) {
                (front, seen + (1 << 16))
            } else {
                (pieces - 1 - back, seen + 1)
            };
            match self.barrier.open.compare_exchange_weak(seen, taken, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(piece as usize),
                Err(now) => seen = now,
            }
        }
    }

    /// Counts a piece as done; the last one opens the next stage.
    fn finish(&self, pieces: u32) {
        if self.barrier.done.fetch_add(1, Ordering::AcqRel) + 1 == pieces {
            self.barrier.done.store(0, Ordering::Relaxed);
            let next = self.stage.get().wrapping_add(1);
            self.barrier.open.store(u64::from(next) << 32, Ordering::Release);
        }
    }
}

/// Number of processors that the system reports; 1 if it does not.
fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Pauses between two polls; yields the processor after `limit` of them.
fn spin(polls: &mut u32, limit: u32) {
    *polls += 1;
    if *polls < limit { std::hint::spin_loop() } else { std::thread::yield_now() }
}

/// Chunks of 0..length that threads take in turn, for work whose duration differs from item to item.
#[derive(Debug)]
pub struct Chunks {
    length: usize,
    taken: AtomicUsize,
}

impl Chunks {
    /// Items per chunk.
    const SIZE: usize = 64;

    /// Chunks of the range 0..length.
    pub const fn new(length: usize) -> Self {
        Self { length, taken: AtomicUsize::new(0) }
    }

    /// The next chunk, which no other thread gets; none when all are taken.
    pub fn take(&self) -> Option<Range<usize>> {
        let start = self.taken.fetch_add(Self::SIZE, Ordering::Relaxed);
        (start < self.length).then(|| start..self.length.min(start + Self::SIZE))
    }
}

/// Work for a pool thread. The pointers stay valid until the job is done or withdrawn: `Workers` waits for
/// that.
#[derive(Clone, Copy)]
struct Job {
    work: *const (dyn Fn(&Worker<'_>) + Sync),
    barrier: *const Barrier,
    index: usize,
}

// SAFETY: both pointers are to `Sync` values, and they are dereferenced only between `give` and the return of
// `Workers::join`, while the thread that owns the values waits.
unsafe impl Send for Job {}

/// State of a pool thread: parked, has to be woken.
const PARKED: u32 = 0;
/// State of a pool thread: polls for a job.
const IDLE: u32 = 1;
/// State of a pool thread: a job was given, but not started yet.
const GIVEN: u32 = 2;
/// State of a pool thread: runs its job.
const RUNNING: u32 = 3;
/// Polls for a job before a pool thread parks.
const PARK_LIMIT: u32 = SPIN_LIMIT + 100;

/// A thread of the pool.
struct PoolThread {
    state: AtomicU32,
    job: Mutex<Option<Job>>,
    /// Payload of the panic that ended the last job.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    thread: OnceLock<Thread>,
}

/// Pool threads without a job.
static POOL: Mutex<Vec<Arc<PoolThread>>> = Mutex::new(Vec::new());

fn pool() -> std::sync::MutexGuard<'static, Vec<Arc<PoolThread>>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PoolThread {
    /// A thread of the pool, or a new one; none if the system cannot start more.
    fn acquire() -> Option<Arc<Self>> {
        let idle = pool().pop();
        idle.or_else(Self::spawn)
    }

    fn spawn() -> Option<Arc<Self>> {
        let spawned = Arc::new(Self {
            state: AtomicU32::new(IDLE),
            job: Mutex::new(None),
            panic: Mutex::new(None),
            thread: OnceLock::new(),
        });
        let own = Arc::clone(&spawned);
        let thread = std::thread::Builder::new().name("team".into()).spawn(move || own.run()).ok()?;
        let _ = spawned.thread.set(thread.thread().clone());
        Some(spawned)
    }

    /// Loop of the thread, which ends with the process: polls for jobs and runs them, parks after
    /// `PARK_LIMIT` polls.
    fn run(&self) {
        let mut polls = 0;
        loop {
            match self.state.load(Ordering::Acquire) {
                GIVEN if self.change_state(GIVEN, RUNNING) => {
                    self.run_job();
                    self.state.store(IDLE, Ordering::Release);
                    polls = 0;
                }
                IDLE if polls < PARK_LIMIT => spin(&mut polls, SPIN_LIMIT),
                IDLE => {
                    self.change_state(IDLE, PARKED);
                }
                PARKED => std::thread::park(),
                _ => {}
            }
        }
    }

    /// Compare and exchange; whether the state was `from`, and is `to` now.
    fn change_state(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn run_job(&self) {
        let Some(job) = self.job.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        // SAFETY: the state is RUNNING, so `Workers::join` has not returned, and the owner keeps both values
        // alive.
        let (work, barrier) = unsafe { (&*job.work, &*job.barrier) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(&Worker::new(job.index, barrier)))) {
            barrier.poisoned.store(true, Ordering::Relaxed);
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }

    fn give(&self, job: Job) {
        *self.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
        if self.state.swap(GIVEN, Ordering::AcqRel) == PARKED
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// The pool threads that run one work; dropping waits for them, since they borrow from the caller's stack.
struct Workers<'g> {
    threads: [Option<Arc<PoolThread>>; MAX_POOL_THREADS],
    barrier: &'g Barrier,
}

/// Pool threads of one work at most: more would only contend for the barrier.
const MAX_POOL_THREADS: usize = 63;

impl Workers<'_> {
    /// Waits until all threads are done and returns them to the pool ⇒ the first panic, if any.
    fn join(&mut self) -> Option<Box<dyn Any + Send>> {
        let mut panic = None;
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            // A job that was not started yet is withdrawn: the work is done already.
            let mut polls = 0;
            while !thread.change_state(GIVEN, IDLE) && thread.state.load(Ordering::Acquire) == RUNNING {
                spin(&mut polls, self.barrier.spin_limit);
            }
            // Every payload is taken, else it would be reported by the next work of that thread.
            let payload = thread.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
            panic = panic.or(payload);
            pool().push(thread);
        }
        panic
    }
}

impl Drop for Workers<'_> {
    /// Threads are left to wait for only if the caller's own part of the work panicked.
    fn drop(&mut self) {
        self.barrier.poisoned.store(true, Ordering::Relaxed);
        self.join();
    }
}

/// Runs the work on `threads` threads at once, the calling one included; on fewer if the system cannot start
/// so many.
///
/// Returns when all threads have finished; a panic of one is resumed in the caller.
///
/// ```
/// use rattleback_numerics::team::{Chunks, together};
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let (chunks, sum) = (Chunks::new(1000), AtomicUsize::new(0));
/// together(4, |_| {
///     while let Some(range) = chunks.take() {
///         sum.fetch_add(range.sum::<usize>(), Ordering::Relaxed);
///     }
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
pub fn together(threads: usize, work: impl Fn(&Worker<'_>) + Sync) {
    let mut pool_threads = [const { None }; MAX_POOL_THREADS];
    let wanted = threads.saturating_sub(1).min(MAX_POOL_THREADS);
    let mut count = 1;
    for place in &mut pool_threads[..wanted] {
        *place = PoolThread::acquire();
        count += usize::from(place.is_some());
    }
    if count == 1 {
        return work(&Worker::new(0, &Barrier::new(1)));
    }
    let barrier = Barrier::new(count);
    let mut workers = Workers { threads: pool_threads, barrier: &barrier };
    let shared: &(dyn Fn(&Worker<'_>) + Sync) = &work;
    // SAFETY: only the lifetime changes; `workers` waits for all threads before `work` goes out of scope,
    // also on a panic.
    let shared: *const (dyn Fn(&Worker<'_>) + Sync) = unsafe { std::mem::transmute(shared) };
    for (index, thread) in workers.threads.iter().flatten().enumerate() {
        thread.give(Job { work: shared, barrier: &raw const barrier, index: index + 1 });
    }
    work(&Worker::new(0, &barrier));
    if let Some(panic) = workers.join() {
        resume_unwind(panic);
    }
}

/// Runs the work over 0..count on at most `threads` threads, in pieces of at least `min_piece` indices.
pub fn spread(threads: usize, count: usize, min_piece: usize, work: impl Fn(Range<usize>) + Sync) {
    // No thread is woken for less than one piece.
    let threads = threads.min(count / min_piece.max(1));
    together(threads, |worker| worker.stage(0..count, min_piece, &work));
}

/// Calls `work` with pieces of a slice, each with the index of its first element, on up to `threads` threads. Pieces have at least
/// `min_piece` elements where there are as many.
///
/// ```
/// let mut squares = vec![0; 100];
/// rattleback_numerics::team::each_piece(2, &mut squares, 10, |first, piece| {
///     piece.iter_mut().enumerate().for_each(|(k, square)| *square = (first + k).pow(2));
/// });
/// assert!(squares.iter().enumerate().all(|(k, square)| *square == k * k));
/// ```
pub fn each_piece<T: Send>(
    threads: usize,
    items: &mut [T],
    min_piece: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let shared = Shared::new(items);
    spread(threads, shared.len(), min_piece, |range| {
        // SAFETY: the pieces of a stage do not overlap.
        work(range.start, unsafe { shared.range_mut(range) });
    });
}

/// Calls `work` with some ranges of a slice, on up to `threads` threads, each of which takes at least `min_ranges` of them.
///
/// # Panics
/// If the ranges do not ascend without overlap within the slice.
pub fn each_range<T: Send>(
    threads: usize,
    items: &mut [T],
    ranges: &[Range<usize>],
    min_ranges: usize,
    work: impl Fn(&Range<usize>, &mut [T]) + Sync,
) {
    let mut end = 0;
    for range in ranges {
        assert!(end <= range.start && range.start <= range.end, "ranges must ascend without overlap");
        end = range.end;
    }
    assert!(end <= items.len(), "ranges must lie within the slice");
    let shared = Shared::new(items);
    spread(threads, ranges.len(), min_ranges, |some| {
        for range in &ranges[some] {
            // SAFETY: the ranges do not overlap, see above, and each is given to one thread.
            work(range, unsafe { shared.range_mut(range.clone()) });
        }
    });
}

/// Runs the work on every item, with its index, on at most `threads` threads.
pub fn each<T: Send>(threads: usize, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let shared = Shared::new(items);
    spread(threads, shared.len(), 1, |range| {
        for index in range {
            // SAFETY: pieces are disjoint parts of 0..len.
            work(index, unsafe { shared.get_mut(index) });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every item is taken exactly once, whatever the order of the threads.
    #[test]
    fn chunks_cover_the_range_once() {
        for length in [0, 1, 64, 1000] {
            let mut numbers = vec![0_u64; length];
            let (shared, chunks) = (Shared::new(&mut numbers), Chunks::new(length));
            together(3, |_| {
                for i in std::iter::from_fn(|| chunks.take()).flatten() {
                    // SAFETY: chunks do not overlap.
                    unsafe { *shared.get_mut(i) += 1 };
                }
            });
            assert!(numbers.iter().all(|n| *n == 1));
        }
    }

    /// A panic of one thread reaches the caller without a deadlock of the others, and the pool still works
    /// afterwards.
    #[test]
    fn a_panic_reaches_the_caller() {
        for index in [0, 50, 99] {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                together(3, |worker| {
                    worker.stage(0..100, 1, |range| assert!(!range.contains(&index), "on purpose"));
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

    /// Nested teams, and teams started by several threads at once.
    #[test]
    fn nested_and_concurrent_teams_finish() {
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
    fn a_stage_sees_the_writes_of_earlier_stages() {
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
