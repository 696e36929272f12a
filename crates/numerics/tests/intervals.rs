//! Enclosure by interval arithmetic.

use proptest::prelude::*;
use rattleback_numerics::interval::Interval;

#[derive(Clone, Debug)]
enum Expression {
    Variable(usize),
    Constant(f64),
    Unary(u8, Box<Expression>),
    Binary(u8, Box<Expression>, Box<Expression>),
}

const VARIABLES: usize = 3;

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        (0..VARIABLES).prop_map(Expression::Variable),
        (-10.0..10.0_f64).prop_map(Expression::Constant),
    ];
    leaf.prop_recursive(5, 32, 2, |inner| {
        prop_oneof![
            (0..6_u8, inner.clone()).prop_map(|(kind, x)| Expression::Unary(kind, Box::new(x))),
            (0..6_u8, inner.clone(), inner).prop_map(|(kind, x, y)| Expression::Binary(
                kind,
                Box::new(x),
                Box::new(y)
            )),
        ]
    })
}

impl Expression {
    fn number(&self, at: &[f64; VARIABLES]) -> f64 {
        match self {
            Self::Variable(i) => at[*i],
            Self::Constant(c) => *c,
            Self::Unary(kind, x) => {
                let x = x.number(at);
                [-x, x.abs(), x.sqrt(), x * x, x * x * x, 1.0 / x][usize::from(*kind)]
            }
            Self::Binary(kind, x, y) => {
                let (x, y) = (x.number(at), y.number(at));
                // f64::min would hide NaN.
                if x.is_nan() || y.is_nan() {
                    return f64::NAN;
                }
                [x + y, x - y, x * y, x / y, x.min(y), x.max(y)][usize::from(*kind)]
            }
        }
    }

    fn interval(&self, at: &[Interval; VARIABLES]) -> Interval {
        match self {
            Self::Variable(i) => at[*i],
            Self::Constant(c) => Interval::point(*c),
            Self::Unary(kind, x) => {
                let x = x.interval(at);
                [-x, x.abs(), x.sqrt(), x.powi(2), x.powi(3), x.powi(-1)][usize::from(*kind)]
            }
            Self::Binary(kind, x, y) => {
                let (x, y) = (x.interval(at), y.interval(at));
                [x + y, x - y, x * y, x / y, x.min(y), x.max(y)][usize::from(*kind)]
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// 500 random expressions, 200 samples each, are enclosed by their interval extension wherever they
    /// have a finite value.
    #[test]
    fn expressions_are_enclosed(
        expression in expression(),
        boxes in prop::array::uniform3((-10.0..10.0_f64, 0.0..5.0_f64)),
        samples in prop::collection::vec(prop::array::uniform3(0.0..=1.0_f64), 200),
    ) {
        let domain = boxes.map(|(lo, width)| Interval::new(lo, lo + width).unwrap());
        let enclosure = expression.interval(&domain);
        for sample in samples {
            let at: [f64; VARIABLES] = std::array::from_fn(|i| {
                let (lo, width) = boxes[i];
                (lo + width * sample[i]).clamp(domain[i].lo(), domain[i].hi())
            });
            let value = expression.number(&at);
            if value.is_finite() {
                prop_assert!(enclosure.contains(value), "{expression:?} at {at:?} = {value}: {enclosure:?}");
            }
        }
    }

    /// Sums and products of small fractions, against exact integer arithmetic.
    #[test]
    fn exact_values_are_enclosed(terms in prop::collection::vec((-999..1000_i64, 1..100_i64), 1..8)) {
        let fraction = |n: i64, d: i64| Interval::point(n as f64) / Interval::point(d as f64);
        let sum = terms.iter().fold(Interval::point(0.0), |sum, &(n, d)| sum + fraction(n, d));
        // Σ n/d over the common denominator D = Π d, exact in 128 bits; D·sum must contain the numerator.
        let denominator: i128 = terms.iter().map(|&(_, d)| i128::from(d)).product();
        let numerator: i128 = terms.iter().map(|&(n, d)| i128::from(n) * (denominator / i128::from(d))).sum();
        let scaled = sum * Interval::point(denominator as f64);
        prop_assume!(denominator < 1 << 53 && numerator.abs() < 1 << 53);
        prop_assert!(scaled.contains(numerator as f64));
    }

    #[test]
    fn whatever_bits_come_in_bounds_stay_ordered(a in any::<f64>(), b in any::<f64>(), n in any::<i32>()) {
        let (x, y) = (Interval::point(a), Interval::point(b).hull(Interval::point(1.0)));
        for result in [x + y, x - y, x * y, x / y, x.sqrt(), x.powi(n), x.abs(), x.min(y), x.max(y)] {
            prop_assert!(result.is_empty() || result.lo() <= result.hi());
            prop_assert!(!result.lo().is_nan() && !result.hi().is_nan());
        }
    }
}
