//! Thins a curve to what a picture can show.
//!
//! All points that follow each other in one column of pixels draw one vertical stroke from their lowest to their
//! highest, entered at the first and left at the last. So of each such run the first, lowest, highest and last point,
//! in their order, draw the same picture; a curve over n columns needs at most 4 n points.

/// Points of one unbroken curve on the canvas and the width of a column ⇒ the points that matter.
pub(super) fn decimate(points: impl Iterator<Item = (i32, i32)>, column_width: i32) -> Vec<(i32, i32)> {
    let mut kept = Vec::new();
    let mut run: Option<Run> = None;
    for (number, point) in points.enumerate() {
        let column = point.0.div_euclid(column_width.max(1));
        match &mut run {
            Some(run) if run.column == column => run.add(number, point),
            _ => {
                if let Some(run) = run.replace(Run::new(column, number, point)) {
                    run.finish(&mut kept);
                }
            }
        }
    }
    if let Some(run) = run {
        run.finish(&mut kept);
    }
    kept
}

type Numbered = (usize, (i32, i32));

struct Run {
    column: i32,
    first: Numbered,
    lowest: Numbered,
    highest: Numbered,
    last: Numbered,
}

impl Run {
    fn new(column: i32, number: usize, point: (i32, i32)) -> Self {
        let only = (number, point);
        Self { column, first: only, lowest: only, highest: only, last: only }
    }

    fn add(&mut self, number: usize, point: (i32, i32)) {
        self.last = (number, point);
        if point.1 < self.lowest.1.1 {
            self.lowest = self.last;
        }
        if point.1 > self.highest.1.1 {
            self.highest = self.last;
        }
    }

    fn finish(self, kept: &mut Vec<(i32, i32)>) {
        let mut four = [self.first, self.lowest, self.highest, self.last];
        four.sort_unstable();
        for (_, point) in four {
            if kept.last() != Some(&point) {
                kept.push(point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lowest and highest y met in each column, joining lines not counted.
    fn strokes(points: &[(i32, i32)], width: i32) -> Vec<Option<(i32, i32)>> {
        let mut strokes = vec![None; 50];
        for &(x, y) in points {
            let stroke = &mut strokes[(x / width) as usize];
            *stroke = Some(stroke.map_or((y, y), |(low, high): (i32, i32)| (low.min(y), high.max(y))));
        }
        strokes
    }

    #[test]
    fn every_column_keeps_its_extremes_and_few_points() {
        let noise = |i: i64| (i * 7919 + i * i * 31) % 1009;
        let points: Vec<(i32, i32)> = (0..100_000).map(|i| ((i / 500) as i32, noise(i) as i32)).collect();
        let thin = decimate(points.iter().copied(), 4);
        assert!(thin.len() <= 4 * 50);
        assert_eq!(strokes(&thin, 4), strokes(&points, 4));
        assert_eq!((thin.first(), thin.last()), (points.first(), points.last()));
    }

    #[test]
    fn short_curves_stay_as_they_are() {
        let points = [(0, 3), (10, 5), (20, 1)];
        assert_eq!(decimate(points.into_iter(), 4), points);
        assert!(decimate(std::iter::empty(), 4).is_empty());
        assert_eq!(decimate([(1, 1); 9].into_iter(), 0), [(1, 1)]);
    }
}
