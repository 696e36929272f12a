//! Designs as named numbers with ranges.

use crate::gate::numbers;
use rattleback_dynamics::property::suggestion;

/// Most designs that ranges stand for.
const MOST: usize = 10_000;

/// A number of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Unit; empty for plain numbers.
    pub unit: &'static str,
    /// Least and largest value.
    pub range: (f64, f64),
    /// Whether it is a whole number.
    pub whole: bool,
    /// What it is.
    pub is: &'static str,
}

/// Why a design cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MicroError {
    /// A text that sets nothing.
    #[error("`{text}`: {message}; parameters are set like tilt=2 or tilt=1..4/4")]
    Text {
        /// The text.
        text: String,
        /// What is wrong with it.
        message: String,
    },
    /// A number out of its range.
    #[error("{name} must be {whole}from {low} to {high} {unit}; got {value}")]
    Range {
        /// Which number.
        name: &'static str,
        /// `whole, ` or nothing.
        whole: &'static str,
        /// Least value.
        low: f64,
        /// Largest value.
        high: f64,
        /// Unit.
        unit: &'static str,
        /// The number.
        value: f64,
    },
    /// Numbers that do not fit each other.
    #[error("{0}")]
    Geometry(String),
    /// The engine refused the world, or every run failed.
    #[error("{0}")]
    Simulator(String),
}

/// What has parameters by name.
pub trait Design: Clone {
    /// All of them.
    fn parameters() -> &'static [Parameter];
    /// Number of the parameter ⇒ its value.
    fn value(&self, parameter: usize) -> f64;
    /// Sets a parameter, without a check.
    fn set(&mut self, parameter: usize, value: f64);

    /// An error for the first parameter out of its range.
    ///
    /// # Errors
    /// [`MicroError::Range`].
    fn check_ranges(&self) -> Result<(), MicroError> {
        for (i, parameter) in Self::parameters().iter().enumerate() {
            let (value, (low, high)) = (self.value(i), parameter.range);
            if !(low..=high).contains(&value) || (parameter.whole && value.fract() != 0.0) {
                let whole = if parameter.whole { "whole, " } else { "" };
                let Parameter { name, unit, .. } = *parameter;
                return Err(MicroError::Range { name, whole, low, high, unit, value });
            }
        }
        Ok(())
    }
}

/// A struct of numbers with a default, a unit, a range and a doc line each.
macro_rules! design {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $default:literal, $unit:literal, $low:literal to $high:literal $($whole:ident)?, $is:literal;)* }
     $($other:ident: $kind:ty = $value:expr, $other_is:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct $name {
            $(#[doc = $is] #[doc = concat!("Unit: ", $unit)] pub $field: f64,)*
            $(#[doc = $other_is] pub $other: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* $($other: $value,)* }
            }
        }

        impl $crate::micro::Design for $name {
            fn parameters() -> &'static [$crate::micro::Parameter] {
                const ALL: &[$crate::micro::Parameter] = &[$($crate::micro::Parameter {
                    name: stringify!($field),
                    unit: $unit,
                    range: ($low as f64, $high as f64),
                    whole: [$(stringify!($whole),)? ""][0].len() == "whole".len(),
                    is: $is,
                }),*];
                ALL
            }

            fn value(&self, parameter: usize) -> f64 {
                [$(self.$field),*][parameter]
            }

            fn set(&mut self, parameter: usize, value: f64) {
                *[$(&mut self.$field),*][parameter] = value;
            }
        }
    };
}
pub(super) use design;

/// (design, texts such as `tilt=1..4/4`) ⇒ every combination, the last text fastest; one design without texts.
///
/// # Errors
/// A text that sets nothing, a value out of its range, too many combinations.
pub fn designs<D: Design>(base: &D, texts: &[String]) -> Result<Vec<D>, MicroError> {
    let parameters = D::parameters();
    let names: Vec<String> = parameters.iter().map(|p| p.name.to_owned()).collect();
    let mut all = vec![base.clone()];
    for text in texts {
        let refused = |message: String| MicroError::Text { text: text.clone(), message };
        let (name, value) = text.split_once('=').ok_or_else(|| refused("there is no value".into()))?;
        let name = name.trim();
        let parameter = parameters.iter().position(|p| p.name == name).ok_or_else(|| {
            refused(format!(
                "there is no parameter `{name}`{}; there are: {}",
                suggestion(name, &names),
                names.join(", ")
            ))
        })?;
        let values = numbers(value)
            .ok_or_else(|| refused(format!("`{value}` is no number and no range LOW..HIGH/COUNT")))?;
        if all.len() * values.len() > MOST {
            return Err(refused(format!("more than {MOST} designs")));
        }
        let varied = |design: &D| -> Vec<D> {
            let with = |value: &f64| {
                let mut design = design.clone();
                design.set(parameter, *value);
                design
            };
            values.iter().map(with).collect()
        };
        all = all.iter().flat_map(varied).collect();
    }
    all.iter().try_for_each(Design::check_ranges)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micro::Stepper;

    #[test]
    fn ranges_are_combined_and_checked() {
        let of = |texts: &[&str]| {
            designs(&Stepper::default(), &texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>())
        };
        let all = of(&["frequency=500..1000/2", "angle=30..60/3"]).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!((all[1].frequency, all[1].angle), (500.0, 45.0));
        assert_eq!(of(&[]).unwrap(), [Stepper::default()]);
        let refused = |text: &str| of(&[text]).unwrap_err().to_string();
        assert!(refused("frequenzy=1").contains("did you mean `frequency`"));
        assert!(refused("frequency").contains("no value"));
        assert!(refused("frequency=x").contains("is no number"));
        assert!(refused("jaws=1.5").contains("whole, from 1 to 2"));
        assert!(refused("frequency=nan").contains("is no number"));
        assert!(refused("friction=-1").contains("friction must be from 0"));
        assert!(of(&["angle=30..60/200", "frequency=1..2/200"]).is_err());
    }
}
