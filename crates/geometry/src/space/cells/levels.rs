//! Cells of several sizes, for boxes of several sizes.
//!
//! Level k has cells of side ρ_k, ascending. A box of size s belongs to a level with α ≤ s/ρ_k ≤ β: its cells
//! are not much larger than itself, and it covers at most (⌈β⌉ + 1)³ of them.
//!
//! - Minimal (Mirtich): the smallest size s without level gets ρ = s/α, which serves all sizes up to (β/α) s;
//!   and so on.
//! - Geometric (Coutinho): ρ_1 = d_min/α, ρ_{j+1} = (β/α) ρ_j, m = ⌈log(d_max/d_min)/log(β/α)⌉ levels, at
//!   least one. A box of diameter d belongs to level min(m, ⌊log_{β/α}(d/d_min)⌋ + 1).

use crate::Aabb;
use crate::space::SpaceError;

/// α and β of the head of this file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRule {
    /// Smallest box on a level, in sides of its cells; between 0 and 1.
    pub alpha: f64,
    /// Largest box on a level, in sides of its cells; at least 1.
    pub beta: f64,
}

impl Default for LevelRule {
    fn default() -> Self {
        Self { alpha: 0.5, beta: 1.0 }
    }
}

impl LevelRule {
    /// An error if α is not within (0, 1) or β is below 1.
    pub fn check(&self) -> Result<(), SpaceError> {
        if !(self.alpha > 1e-6 && self.alpha < 1.0) {
            return Err(SpaceError::Setting {
                name: "alpha",
                value: self.alpha,
                allowed: "above 1e-6 and below 1",
            });
        }
        if !(1.0..=1e6).contains(&self.beta) {
            return Err(SpaceError::Setting { name: "beta", value: self.beta, allowed: "between 1 and 1e6" });
        }
        Ok(())
    }
}

/// Most levels; boxes beyond them are tested linearly.
const MAX_LEVELS: usize = 200;

/// Sizes > 0 in any order ⇒ sides of cells, ascending: as few as serve all sizes.
pub fn minimal_levels(sizes: &mut [f64], rule: &LevelRule) -> Vec<f64> {
    sizes.sort_by(f64::total_cmp);
    let mut levels: Vec<f64> = Vec::new();
    for &size in sizes.iter().filter(|size| size.is_finite() && **size > 0.0) {
        // A size that ends a level's range belongs to it, rounded or not.
        if levels.last().is_none_or(|&side| size > side * rule.beta * (1.0 + 1e-12)) {
            levels.push(size / rule.alpha);
        }
    }
    levels
}

/// (smallest, largest diameter) ⇒ sides of cells, ascending, each β/α times the one before.
pub fn geometric_levels(smallest: f64, largest: f64, rule: &LevelRule) -> Vec<f64> {
    let ratio = rule.beta / rule.alpha;
    let count = snapped((largest / smallest).ln() / ratio.ln()).ceil().clamp(1.0, MAX_LEVELS as f64) as i32;
    (0..count).map(|level| smallest / rule.alpha * ratio.powi(level)).collect()
}

/// A logarithm that is an integer but for rounding is taken as that integer.
fn snapped(x: f64) -> f64 {
    if (x - x.round()).abs() < 1e-9 { x.round() } else { x }
}

/// Which levels there are and how boxes find theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Scheme {
    /// By longest side, as few levels as possible.
    #[default]
    Minimal,
    /// By diagonal, levels in a fixed ratio.
    Geometric,
}

/// Levels in use.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    pub sides: Vec<f64>,
    pub rule: LevelRule,
    pub scheme: Scheme,
}

impl Levels {
    pub fn size(&self, bounds: &Aabb) -> f64 {
        match self.scheme {
            Scheme::Minimal => bounds.extents().max_element(),
            Scheme::Geometric => bounds.diagonal(),
        }
    }

    /// Chooses levels for the sizes. Points, and boxes a million times smaller or larger than the median, get
    /// no level of their own.
    pub fn choose(&mut self, mut sizes: Vec<f64>) {
        sizes.retain(|&size| size > 0.0);
        sizes.sort_by(f64::total_cmp);
        let Some(&middle) = sizes.get(sizes.len() / 2) else {
            self.sides = vec![1.0];
            return;
        };
        sizes.retain(|size| (1e-6 * middle..=1e6 * middle).contains(size));
        self.sides = match (self.scheme, sizes.first(), sizes.last()) {
            (Scheme::Geometric, Some(&low), Some(&high)) => geometric_levels(low, high, &self.rule),
            _ => minimal_levels(&mut sizes, &self.rule),
        };
        self.sides.truncate(MAX_LEVELS);
    }

    /// Level of a size: served by it if any serves, else the finest that is coarse enough, else the coarsest.
    pub fn level(&self, size: f64) -> usize {
        let LevelRule { alpha, beta } = self.rule;
        let last = self.sides.len().saturating_sub(1);
        if self.scheme == Scheme::Geometric && size > 0.0 {
            let smallest = self.sides.first().map_or(1.0, |side| side * alpha);
            let level = snapped((size / smallest).ln() / (beta / alpha).ln()).floor().clamp(0.0, last as f64);
            return level as usize;
        }
        self.sides.partition_point(|&side| size > side * beta * (1.0 + 1e-12)).min(last)
    }

    /// Whether a size has a level that serves it.
    pub fn serves(&self, size: f64) -> bool {
        let side = self.sides.get(self.level(size)).copied().unwrap_or(0.0);
        let slack = 1.0 + 1e-9;
        side > 0.0 && size <= self.rule.beta * side * slack && size * slack >= self.rule.alpha * side
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GRID-2: k_max = 1, k_min = 0.5, diameters 2 to 16 ⇒ cells 4, 8, 16; the printed example's 9.7 belongs
    /// to level 3.
    #[test]
    fn geometric_levels_of_the_textbook() {
        let mut levels = Levels { scheme: Scheme::Geometric, ..Levels::default() };
        levels.choose(vec![2.0, 16.0, 5.0]);
        assert_eq!(levels.sides, [4.0, 8.0, 16.0]);
        let found = [2.0, 4.0, 8.0, 9.7, 16.0].map(|d| levels.level(d) + 1);
        assert_eq!(found, [1, 2, 3, 3, 3]);
        assert_eq!(geometric_levels(3.0, 3.0, &LevelRule::default()), [6.0]);
    }

    /// Lemma 1: at most ⌈log_{β/α}(s_max/s_min)⌉ levels, and three sizes need at most three whatever their
    /// ratio.
    #[test]
    fn minimal_levels_are_few() {
        let rule = LevelRule::default();
        assert_eq!(minimal_levels(&mut [1.0, 1e9, 1e-9], &rule).len(), 3);
        let mut sizes: Vec<f64> =
            (0..=1000).map(|k| 10f64.powf(-2.0 + 4.0 * f64::from(k) / 1000.0)).collect();
        let levels = minimal_levels(&mut sizes, &rule);
        assert!(levels.len() <= 14, "{}", levels.len());
        let levels = Levels { sides: levels, ..Levels::default() };
        assert!(sizes.iter().all(|&size| levels.serves(size)));
    }

    #[test]
    fn bad_rules_are_refused() {
        for (alpha, beta) in [(0.0, 1.0), (1.0, 1.0), (0.5, 0.9), (f64::NAN, 1.0), (0.5, f64::NAN)] {
            assert!(LevelRule { alpha, beta }.check().is_err());
        }
    }
}
