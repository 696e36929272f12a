//! Loops over arrays on several threads, with results that do not depend on their number.
//!
//! Every element of an output is computed by one call from inputs that the loop does not change, so that the
//! division into pieces does not show. Sums are formed over blocks of fixed size, then in the order of blocks.
#![allow(unsafe_code)]

use std::ops::Range;

use rattleback_numerics::team::{Shared, spread};

/// Indices per block of a sum.
const BLOCK: usize = 1024;

/// Elements that a thread is given at least.
const MIN_PIECE: usize = 256;

/// Calls `work(first, part)` for disjoint parts of the output that cover it.
pub(crate) fn fill<T: Send>(threads: usize, out: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    let shared = Shared::new(out);
    spread(threads, shared.len(), MIN_PIECE, |range| {
        // SAFETY: `spread` hands out disjoint ranges within 0..len.
        work(range.start, unsafe { shared.range_mut(range) });
    });
}

/// Calls `work(group, part)` for every group, where group g owns the elements `bounds[g]..bounds[g + 1]`;
/// `bounds` does not decrease and ends at the length of the output at most.
pub(crate) fn fill_groups<T: Send>(
    threads: usize,
    bounds: &[u32],
    out: &mut [T],
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let groups = bounds.len().saturating_sub(1);
    assert!(bounds.is_sorted() && bounds.last().is_none_or(|&end| end as usize <= out.len()));
    let shared = Shared::new(out);
    spread(threads, groups, 1, |range| {
        for group in range {
            let elements = bounds[group] as usize..bounds[group + 1] as usize;
            // SAFETY: bounds were found to be sorted and within the slice, so groups are disjoint.
            work(group, unsafe { shared.range_mut(elements) });
        }
    });
}

/// Σ over blocks of indices, each added up by `part`, in the order of the blocks. `scratch` holds the sums.
pub(crate) fn sum<S: Copy + Send + Default + std::ops::Add<Output = S>>(
    threads: usize,
    count: usize,
    scratch: &mut Vec<S>,
    part: impl Fn(Range<usize>) -> S + Sync,
) -> S {
    scratch.clear();
    scratch.resize(count.div_ceil(BLOCK), S::default());
    let shared = Shared::new(scratch);
    spread(threads, shared.len(), 1, |range| {
        for block in range {
            let sum = part(block * BLOCK..count.min((block + 1) * BLOCK));
            // SAFETY: each block is in one piece only.
            unsafe { *shared.get_mut(block) = sum };
        }
    });
    scratch.iter().fold(S::default(), |sum, &part| sum + part)
}

/// Calls `work(group, part of a, part of b, &mut reports[group])` for every group of elements, as `fill_groups`.
pub(crate) fn fill_blocks<T: Send, U: Send, R: Send>(
    threads: usize,
    bounds: &[u32],
    (a, b, reports): (&mut [T], &mut [U], &mut [R]),
    work: impl Fn(usize, &mut [T], &mut [U], &mut R) + Sync,
) {
    let groups = bounds.len().saturating_sub(1);
    let length = a.len().min(b.len());
    assert!(bounds.is_sorted() && bounds.last().is_none_or(|&end| end as usize <= length));
    assert!(groups <= reports.len());
    let (a, b, reports) = (Shared::new(a), Shared::new(b), Shared::new(reports));
    spread(threads, groups, 1, |range| {
        for group in range {
            let elements = bounds[group] as usize..bounds[group + 1] as usize;
            // SAFETY: bounds were found to be sorted and within both slices, and there is a report for each group.
            let (a, b, report) =
                unsafe { (a.range_mut(elements.clone()), b.range_mut(elements), reports.get_mut(group)) };
            work(group, a, b, report);
        }
    });
}

/// Calls `work` on every item, with its index.
pub(crate) fn each<T: Send>(threads: usize, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    rattleback_numerics::team::each(threads, items, work);
}
