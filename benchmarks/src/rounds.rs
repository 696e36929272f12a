//! Rounds of all libraries alternate, so that a busy machine slows all of them alike.

use std::hint::black_box;
use std::time::Instant;

/// A library and its way to do a job, which answers with a count that all should agree on.
pub type Task<'a> = (&'a str, Box<dyn FnMut() -> usize + 'a>);

/// Times of one task in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<f64>);

impl Times {
    /// Removes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// One more.
    pub fn push(&mut self, milliseconds: f64) {
        self.0.push(milliseconds);
    }

    /// Least, median and mean; infinite if there are none.
    pub fn summary(&self) -> [f64; 3] {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |k: usize| sorted.get(k).copied().unwrap_or(f64::INFINITY);
        [at(0), at(sorted.len() / 2), sorted.iter().sum::<f64>() / sorted.len() as f64]
    }
}

/// Does something and notes how long it took.
pub fn timed<T>(times: &mut Times, job: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let answer = black_box(job());
    times.push(start.elapsed().as_secs_f64() * 1e3);
    answer
}

/// Runs the tasks in turn, `rounds` times, and prints a row for each; the first is ours.
pub fn compare(title: &str, rounds: usize, mut tasks: Vec<Task>) {
    let mut rows: Vec<(&str, Times, usize)> =
        tasks.iter().map(|(name, _)| (*name, Times::default(), 0)).collect();
    for _ in 0..rounds {
        for ((_, times, answer), (_, task)) in rows.iter_mut().zip(&mut tasks) {
            *answer = timed(times, task);
        }
    }
    report(title, &rows);
}

/// Prints name, times and answer of each row and how many times as long as the first it took.
pub fn report(title: &str, rows: &[(&str, Times, usize)]) {
    let rows: Vec<_> = rows.iter().map(|(name, times, answer)| (*name, times.summary(), *answer)).collect();
    print_rows(title, &rows);
}

/// The same of least, median and mean times in milliseconds.
pub fn print_rows(title: &str, rows: &[(&str, [f64; 3], usize)]) {
    println!("{title}");
    let own = rows.first().map_or([f64::NAN; 3], |row| row.1);
    for (name, [min, median, mean], answer) in rows {
        println!(
            "  {name:<16} min {min:9.3} ms  median {median:9.3} ms  mean {mean:9.3} ms  over ours {:6.2} {:6.2} {:6.2}  answer {answer}",
            min / own[0],
            median / own[1],
            mean / own[2]
        );
    }
}
