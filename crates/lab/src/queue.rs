//! Jobs of very different length on several threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// (threads, number of jobs, job) ⇒ results in the order of the jobs. A thread takes the next job when it is done with one, so that none waits for another before the last.
pub(crate) fn in_turn<R: Send>(threads: usize, count: usize, job: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return results;
            }
            results.push((index, job(index)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.clamp(1, 256)).map(|_| scope.spawn(worker)).collect();
        let mut all = worker();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn results_are_in_order() {
        for threads in [0, 1, 3] {
            assert_eq!(in_turn(threads, 50, |i| i * i), (0..50).map(|i| i * i).collect::<Vec<_>>());
        }
        assert!(in_turn(4, 0, |i| i).is_empty());
    }
}
