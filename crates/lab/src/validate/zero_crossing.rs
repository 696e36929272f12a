//! When a sampled function passes zero, to far better than the time between samples.
//!
//! Between two samples (t, f, ḟ) stands the cubic with their values and slopes (Hermite), whose error is of fourth
//! order in the time between them; its zero is found by halving.

/// A function and its slope at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub t: f64,
    pub value: f64,
    pub slope: f64,
}

impl Sample {
    /// Value at s ∈ [0, 1] of the way to the next sample.
    fn towards(&self, next: &Self, s: f64) -> f64 {
        let h = next.t - self.t;
        let (s2, s3) = (s * s, s * s * s);
        (2.0 * s3 - 3.0 * s2 + 1.0) * self.value
            + (s3 - 2.0 * s2 + s) * h * self.slope
            + (3.0 * s2 - 2.0 * s3) * next.value
            + (s3 - s2) * h * next.slope
    }
}

/// Two samples ⇒ the time at which the function passes zero between them, if it does.
pub(super) fn zero_between(a: &Sample, b: &Sample) -> Option<f64> {
    if (a.value < 0.0) == (b.value < 0.0) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if (a.towards(b, middle) < 0.0) == (a.value < 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(a.t + low * (b.t - a.t))
}

/// Collects the zeros of a function as its samples come in.
#[derive(Clone, Debug, Default)]
pub(super) struct Zeros {
    last: Option<Sample>,
    pub times: Vec<f64>,
}

impl Zeros {
    pub fn push(&mut self, sample: Sample) {
        if let Some(last) = &self.last {
            self.times.extend(zero_between(last, &sample));
        }
        self.last = Some(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_a_cosine() {
        let mut zeros = Zeros::default();
        for k in 0..100 {
            let t = 0.1 * f64::from(k);
            zeros.push(Sample { t, value: t.cos(), slope: -t.sin() });
        }
        assert_eq!(zeros.times.len(), 3);
        for (i, time) in (0..).zip(&zeros.times) {
            assert!((time - (f64::from(i) + 0.5) * std::f64::consts::PI).abs() < 1e-6);
        }
    }
}
