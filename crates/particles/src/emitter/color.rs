//! Colours that change with age.

use serde::{Deserialize, Serialize};

use crate::ParticleError;

/// Meaning of the times of a colour evolution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColorTimes {
    /// Each after the colour before it.
    #[default]
    Relative,
    /// Each after the emission.
    Absolute,
}

/// Colours with their times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColorEvolution {
    /// Red, green, blue (0 to 1) and a time, s.
    pub steps: Vec<[f64; 4]>,
    /// Meaning of the times.
    pub times: ColorTimes,
    /// Linear between two colours instead of a sudden change.
    pub interpolate: bool,
}

impl ColorEvolution {
    /// Colour at an age, s; white without steps.
    pub fn at(&self, age: f64) -> [f64; 3] {
        let Some(&[r, g, b, _]) = self.steps.first() else { return [1.0; 3] };
        let mut color = [r, g, b];
        let mut before = 0.0;
        for (k, &[r, g, b, time]) in self.steps.iter().enumerate() {
            let start = if self.times == ColorTimes::Relative { before + time } else { time };
            if age < start {
                if self.interpolate && k > 0 && start > before {
                    let s = (age - before) / (start - before);
                    let next = [r, g, b];
                    return [0, 1, 2].map(|c| color[c] + s * (next[c] - color[c]));
                }
                return color;
            }
            color = [r, g, b];
            before = start;
        }
        color
    }

    pub(super) fn check(&self) -> Result<(), ParticleError> {
        let bad = |reason: &str| {
            Err(ParticleError::EmitterConfig { field: "colour evolution", reason: reason.to_owned() })
        };
        if self.steps.iter().flatten().any(|x| !(x.is_finite() && *x >= 0.0)) {
            return bad("colours and times must be finite and not negative");
        }
        let sorted = self.steps.iter().map(|s| s[3]).is_sorted();
        if self.times == ColorTimes::Absolute && !sorted {
            return bad("absolute times must not decrease");
        }
        Ok(())
    }
}
