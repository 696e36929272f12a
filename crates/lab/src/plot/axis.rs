//! Ranges, ticks and the text beside them.
//!
//! Ticks are the multiples k · step inside the range, step = 1, 2 or 5 times a power of ten. Where a range [lo, hi] is
//! narrow but far from zero, labels would all read alike; so the roundest number n · 10ᵖ near its middle is written once,
//! above the axis, and the labels give what is beyond it: (k − k₀) · step with k₀ = n · 10ᵖ / step. Both k and k₀ are whole
//! (or half) numbers below 2⁵², so their difference is exact however many digits the offset takes.

/// Below this width a range is noise about zero: powers of ten further down leave the floating-point numbers.
const NARROWEST: f64 = 1e-290;
/// Ranges end here, so that their width is still a number.
const FARTHEST: f64 = 8e307;

/// What an axis shows, and how.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// Ends of the axis, in log₁₀ of the data if `logarithmic`.
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<Tick>,
    /// Places of fainter lines between ticks.
    pub minor: Vec<f64>,
    /// Factor and offset common to all labels, empty if there are none.
    pub note: String,
    pub logarithmic: bool,
}

/// A place on an axis and its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub place: f64,
    pub label: String,
}

impl Axis {
    /// Values to be seen and the number of ticks that fit ⇒ axis with even steps; values not finite do not count.
    /// A margin leaves curves off the frame.
    pub(super) fn linear(values: impl Iterator<Item = f64>, tick_count: usize, with_margin: bool) -> Self {
        let (low, high) = widened(extent(values), with_margin);
        let step = nice_step((high - low) / tick_count.max(1) as f64);
        let (n, p) =
            if low.abs().max(high.abs()) > 1e4 * (high - low) { roundest(low, high) } else { (0.0, 0) };
        let k_0 = n * (2.0 * 10_f64.powi(p) / step).round() / 2.0;
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        let count = (last - first).clamp(0.0, 100.0) as usize + 1;
        let places: Vec<f64> = (0..count).map(|i| first + i as f64).collect();
        let largest = places.iter().map(|k| ((k - k_0) * step).abs()).fold(0.0, f64::max);
        let exponent = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
        let exponent = if (-2..5).contains(&exponent) { 0 } else { exponent };
        let unit = 10_f64.powi(exponent);
        let decimals = (-((step / unit).log10() + 1e-9).floor()).clamp(0.0, 17.0) as usize;
        let ticks = places
            .iter()
            .map(|&k| Tick {
                place: k * step,
                label: with_minus(&format!("{:.decimals$}", (k - k_0) * step / unit)),
            })
            .filter(|tick| tick.place >= low && tick.place <= high)
            .collect();
        let note = [common_factor(exponent), offset(n, p)].join(" ").trim().to_owned();
        Self { low, high, ticks, minor: Vec::new(), note, logarithmic: false }
    }

    /// Values to be seen and the number of ticks that fit ⇒ axis of whole powers of ten; only values > 0 count.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, tick_count: usize) -> Self {
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let (low, high) = extent(positive.map(f64::log10)).unwrap_or((0.0, 1.0));
        let (first, mut last) = (low.floor() as i32, high.ceil() as i32);
        if first == last {
            last += 1;
        }
        let every = (last - first).unsigned_abs().div_ceil(tick_count.max(1) as u32).max(1) as usize;
        let ticks = (first..=last)
            .step_by(every)
            .map(|n| Tick { place: f64::from(n), label: power_of_ten(n) })
            .collect();
        let minor = if last - first <= 8 {
            (first..last)
                .flat_map(|n| (2..10).map(move |digit| f64::from(n) + f64::from(digit).log10()))
                .collect()
        } else {
            Vec::new()
        };
        Self {
            low: f64::from(first),
            high: f64::from(last),
            ticks,
            minor,
            note: String::new(),
            logarithmic: true,
        }
    }

    /// Datum ⇒ 0 at the low end to 1 at the high end, or nothing if it cannot be shown.
    pub(super) fn fraction(&self, datum: f64) -> Option<f64> {
        let value = if self.logarithmic { datum.log10() } else { datum };
        value.is_finite().then(|| self.fraction_of_place(value.clamp(-FARTHEST, FARTHEST)))
    }

    /// Place on the axis ⇒ 0 at the low end to 1 at the high end.
    pub(super) fn fraction_of_place(&self, place: f64) -> f64 {
        ((place - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// Smallest and largest finite value.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| {
        Some(range.map_or((value, value), |(low, high): (f64, f64)| (low.min(value), high.max(value))))
    })
}

/// Range ⇒ range of some width, whatever was given.
fn widened(range: Option<(f64, f64)>, with_margin: bool) -> (f64, f64) {
    let (low, high) = range.unwrap_or((0.0, 1.0));
    let (low, high) = (low.clamp(-FARTHEST, FARTHEST), high.clamp(-FARTHEST, FARTHEST));
    let magnitude = low.abs().max(high.abs());
    let width = high - low;
    if width < NARROWEST {
        // One value, or none to tell apart: a tenth of it to each side, so that its own digits make the labels.
        let half = if magnitude < NARROWEST { 1.0 } else { 0.1 * magnitude };
        return (low - half, high + half);
    }
    // Ticks a fraction of a rounding error apart would fall on one number.
    let least = 64.0 * f64::EPSILON * magnitude;
    let margin = if with_margin { 0.05 * width } else { 0.0 } + 0.5 * (least - width).max(0.0);
    (low - margin, high + margin)
}

/// Narrow range far from zero ⇒ n and p of the number n · 10ᵖ with the fewest digits in its middle half.
fn roundest(low: f64, high: f64) -> (f64, i32) {
    let middle = 0.5 * low + 0.5 * high;
    let quarter = 0.25 * (high - low);
    let (largest, smallest) = (middle.abs().log10().floor() as i32, quarter.log10().floor() as i32);
    let candidate = |p: i32| ((middle / 10_f64.powi(p)).round(), p);
    let near = |&(n, p): &(f64, i32)| (n * 10_f64.powi(p) - middle).abs() <= quarter;
    (smallest..=largest).rev().map(candidate).find(near).unwrap_or_else(|| candidate(smallest))
}

/// Step of the form 1, 2 or 5 times a power of ten, next to `rough` > 0.
fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let digit = rough / power;
    // Borders at the geometric means of neighbours.
    let nice = [(1.0, 1.42), (2.0, 3.17), (5.0, 7.08)].into_iter().find(|&(_, border)| digit <= border);
    nice.map_or(10.0, |(nice, _)| nice) * power
}

/// 10ⁿ with its exponent raised.
fn power_of_ten(n: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |character: char| character.to_digit(10).map_or('⁻', |digit| digits[digit as usize]);
    "10".chars().chain(n.to_string().chars().map(raised)).collect()
}

/// Exponent ⇒ the factor to be written above the axis, if it is not 1.
fn common_factor(exponent: i32) -> String {
    if exponent == 0 { String::new() } else { format!("×{}", power_of_ten(exponent)) }
}

/// n and p ⇒ the offset n · 10ᵖ to be written above the axis, if it is not 0.
fn offset(n: f64, p: i32) -> String {
    let sign = if n < 0.0 { '−' } else { '+' };
    if n == 0.0 {
        String::new()
    } else {
        format!("{sign} {}", plain_or_scientific((n * 10_f64.powi(p)).abs(), -p))
    }
}

/// A true minus sign, which is as wide as the plus; and no sign on zero.
fn with_minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text.to_owned(),
    }
}

/// Number ≥ 0 known to `decimals` places ⇒ its text without trailing zeros.
fn plain_or_scientific(number: f64, decimals: i32) -> String {
    let exponent = if number > 0.0 { number.log10().floor() as i32 } else { 0 };
    let trimmed = |text: String| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    if (-4..9).contains(&exponent) {
        return trimmed(format!("{number:.*}", decimals.clamp(0, 20) as usize));
    }
    let digits = (decimals + exponent).clamp(0, 17) as usize;
    let text = format!("{number:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}×{}", trimmed(mantissa.to_owned()), power_of_ten(exponent.parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ordinary_ranges_get_ordinary_labels() {
        let axis = Axis::linear([0.0, 10.0].into_iter(), 5, false);
        assert_eq!(labels(&axis), ["0", "2", "4", "6", "8", "10"]);
        let axis = Axis::linear([-0.3, 0.31].into_iter(), 3, false);
        assert_eq!(labels(&axis), ["−0.2", "0.0", "0.2"]);
        assert_eq!(axis.note, "");
    }

    #[test]
    fn large_and_small_numbers_share_a_factor() {
        let axis = Axis::linear([0.0, 3e-7].into_iter(), 3, false);
        assert_eq!((labels(&axis), axis.note.as_str()), (vec!["0", "1", "2", "3"], "×10⁻⁷"));
        let axis = Axis::linear([0.0, 4e12].into_iter(), 4, false);
        assert_eq!((labels(&axis).last(), axis.note.as_str()), (Some(&"4"), "×10¹²"));
    }

    /// An energy constant to 10⁻¹² has labels that differ, and an offset that adds up.
    #[test]
    fn nearly_constant_values_are_told_apart() {
        for (value, offset) in
            [(-3.2_f64, "− 3.2"), (9.81, "+ 9.81"), (1e6 + 0.25, "+ 1000000.25"), (2e-20, "+ 2×10⁻²⁰")]
        {
            let values = [value * (1.0 - 1e-12), value * (1.0 + 1e-12)];
            let axis = Axis::linear(values.into_iter(), 5, true);
            let mut seen = labels(&axis);
            assert!(seen.len() >= 2, "{axis:?}");
            seen.dedup();
            assert_eq!(seen.len(), axis.ticks.len(), "{axis:?}");
            assert!(axis.note.ends_with(offset), "{axis:?}");
        }
        let exact = Axis::linear([100.0, 100.002].into_iter(), 4, false);
        assert_eq!(
            (labels(&exact), exact.note.as_str()),
            (vec!["−1.0", "−0.5", "0.0", "0.5", "1.0"], "×10⁻³ + 100.001")
        );
    }

    #[test]
    fn logarithmic_axes_end_at_whole_powers() {
        let axis = Axis::logarithmic([3e-3, 40.0, -1.0, f64::NAN, 0.0].into_iter(), 10);
        assert_eq!((axis.low, axis.high), (-3.0, 2.0));
        assert_eq!(labels(&axis), ["10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]);
        assert_eq!(axis.fraction(0.0), None);
        assert!((axis.fraction(1e-3 * 10_f64.powf(2.5)).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(Axis::logarithmic([7.0].into_iter(), 4).ticks.len(), 2);
    }

    #[test]
    fn no_range_is_too_strange() {
        let extremes =
            [0.0, -0.0, 1.0, -1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e-290, 1e300, f64::NAN];
        for a in extremes {
            for b in extremes {
                for axis in
                    [Axis::linear([a, b].into_iter(), 6, true), Axis::logarithmic([a, b].into_iter(), 6)]
                {
                    assert!(axis.high > axis.low && axis.ticks.len() <= 101, "{a} {b} {axis:?}");
                    assert!(!axis.ticks.is_empty(), "{a} {b} {axis:?}");
                    let fraction = axis.fraction(a);
                    assert!(fraction.is_none_or(|f| (0.0..=1.0).contains(&f)), "{a} {b} {axis:?}");
                }
            }
        }
    }
}
