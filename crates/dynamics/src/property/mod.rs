//! Properties: every component can be configured by name, without knowing its Rust type.
//!
//! A component type publishes [`PropertySpec`]s (name, type, unit, default, allowed values, a line of documentation);
//! scene files, snapshots, command lines and user interfaces need nothing else. [`component!`](crate::component)
//! declares a struct and publishes it in one go.

mod declare;
mod value;

pub use value::{PropertyType, Value, ValueType};

use std::collections::BTreeMap;

/// Property values by name.
pub type Properties = BTreeMap<String, Value>;

/// What one property is.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertySpec {
    /// Key in scene files.
    pub name: String,
    /// Dynamic type.
    pub value_type: ValueType,
    /// SI unit, empty for pure numbers.
    pub unit: String,
    /// Taken when nothing is given.
    pub default: Option<Value>,
    /// Whether it must be given.
    pub required: bool,
    /// Which values are accepted.
    pub allowed: Allowed,
    /// One line for people.
    pub doc: String,
}

/// Which values a property accepts. Non-finite numbers never are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// Anything finite.
    Finite,
    /// Every number > 0.
    Positive,
    /// Every number ≥ 0.
    NonNegative,
    /// Every number in [low, high].
    Within(f64, f64),
    /// A vector or quaternion whose length is not zero.
    Direction,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finite => write!(f, "finite"),
            Self::Positive => write!(f, "> 0"),
            Self::NonNegative => write!(f, "≥ 0"),
            Self::Within(low, high) => write!(f, "in [{low}, {high}]"),
            Self::Direction => write!(f, "finite and not zero"),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// Why a property could not be read or set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PropertyError {
    /// No such property.
    #[error("unknown property `{name}` of {component}{}; it has: {}", suggestion(name, known), known.join(", "))]
    Unknown {
        /// Type of the component.
        component: String,
        /// The name that is not known.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A value of another type.
    #[error("`{name}` of {component} takes {}, not {}", expected.describe(), found.describe())]
    Type {
        /// Type of the component.
        component: String,
        /// Which property.
        name: String,
        /// What it takes.
        expected: ValueType,
        /// What was given.
        found: ValueType,
    },
    /// A value out of range.
    #[error("`{name}` of {component} must be {allowed}; got {value}")]
    Range {
        /// Type of the component.
        component: String,
        /// Which property.
        name: String,
        /// What is accepted.
        allowed: String,
        /// What was given.
        value: String,
    },
    /// A property without default was not given.
    #[error("{component} needs `{name}` ({doc})")]
    Missing {
        /// Type of the component.
        component: String,
        /// Which property.
        name: String,
        /// What it is.
        doc: String,
    },
}

/// ", did you mean `x`?" if one of the known words is close, else nothing.
pub fn suggestion(word: &str, known: &[String]) -> String {
    // Two letters in the wrong order count as one mistake. Longer words than any name are no typing errors, and would take long.
    let word: String = word.chars().take(64).collect();
    known
        .iter()
        .map(|candidate| (strsim::osa_distance(&word, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count() / 4)
        .map_or_else(String::new, |(_, candidate)| format!(", did you mean `{candidate}`?"))
}

/// (component type, spec, value) ⇒ the value in the property's own type, checked.
pub fn accept(component: &str, spec: &PropertySpec, value: Value) -> Result<Value, PropertyError> {
    let value = value.coerced(spec.value_type);
    if value.value_type() != spec.value_type {
        return Err(PropertyError::Type {
            component: component.into(),
            name: spec.name.clone(),
            expected: spec.value_type,
            found: value.value_type(),
        });
    }
    let refuse = |allowed: String| PropertyError::Range {
        component: component.into(),
        name: spec.name.clone(),
        allowed,
        value: shorten(&value.to_string()),
    };
    let signal_fault = match &value {
        Value::Signal(signal) => signal.check().err(),
        Value::VectorSignal(signal) => signal.check().err(),
        _ => None,
    };
    if let Some(fault) = signal_fault {
        return Err(refuse(format!("a valid signal: {fault}")));
    }
    let numbers = value.numbers();
    let fits = numbers.iter().all(|x| x.is_finite())
        && match spec.allowed {
            Allowed::Finite => true,
            Allowed::Positive => numbers.iter().all(|x| *x > 0.0),
            Allowed::NonNegative => numbers.iter().all(|x| *x >= 0.0),
            Allowed::Within(low, high) => numbers.iter().all(|x| (low..=high).contains(x)),
            Allowed::Direction => numbers.iter().any(|x| *x != 0.0),
            Allowed::OneOf(words) => matches!(&value, Value::Text(word) if words.contains(&word.as_str())),
        };
    if fits { Ok(value) } else { Err(refuse(spec.allowed.to_string())) }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 80 {
        text.into()
    } else {
        text.chars().take(77).chain("...".chars()).collect()
    }
}

/// (component type, specs, given values) ⇒ a checked value for every property that is given or has a default.
pub fn complete(
    component: &str,
    specs: &[PropertySpec],
    given: &Properties,
) -> Result<Properties, PropertyError> {
    if let Some(name) = given.keys().find(|name| !specs.iter().any(|spec| spec.name == **name)) {
        return Err(unknown(component, specs, name));
    }
    let mut complete = Properties::new();
    for spec in specs {
        let value = match (given.get(&spec.name), &spec.default) {
            (Some(value), _) => accept(component, spec, value.clone())?,
            (None, Some(default)) => default.clone(),
            (None, None) if !spec.required => continue,
            (None, None) => {
                return Err(PropertyError::Missing {
                    component: component.into(),
                    name: spec.name.clone(),
                    doc: spec.doc.clone(),
                });
            }
        };
        complete.insert(spec.name.clone(), value);
    }
    Ok(complete)
}

/// Whether all present values of a component are such as [`Component::set`] would take: fields of a component can be written without it.
pub fn check(component: &dyn Component) -> Result<(), PropertyError> {
    for spec in component.specs() {
        accept(component.type_name(), spec, component.get(&spec.name)?)?;
    }
    Ok(())
}

/// The error for a value of the right type and range that the property still cannot take.
pub fn unusable(component: &str, spec: &PropertySpec, shown: &str) -> PropertyError {
    PropertyError::Range {
        component: component.into(),
        name: spec.name.clone(),
        allowed: format!("usable as: {}", spec.doc),
        value: shorten(shown),
    }
}

/// The error for a property that does not exist.
pub fn unknown(component: &str, specs: &[PropertySpec], name: &str) -> PropertyError {
    PropertyError::Unknown {
        component: component.into(),
        name: name.into(),
        known: specs.iter().map(|spec| spec.name.clone()).collect(),
    }
}

/// Something that can be configured by name.
pub trait Component: std::fmt::Debug + Send + Sync {
    /// Its type in the registry and in scene files.
    fn type_name(&self) -> &'static str;
    /// What can be configured.
    fn specs(&self) -> &'static [PropertySpec];
    /// Property name ⇒ its present value.
    fn get(&self, name: &str) -> Result<Value, PropertyError>;
    /// Sets a property after checking type and range; on error nothing has changed.
    fn set(&mut self, name: &str, value: Value) -> Result<(), PropertyError>;

    /// All present values.
    fn properties(&self) -> Properties {
        self.specs().iter().filter_map(|spec| Some((spec.name.clone(), self.get(&spec.name).ok()?))).collect()
    }
}

/// A component type as a whole: what the registry needs before there is an instance.
pub trait ComponentType: Component + Default + Sized + 'static {
    /// Its type in the registry and in scene files.
    const TYPE_NAME: &'static str;
    /// One line for people.
    const DOC: &'static str;
    /// What can be configured.
    fn type_specs() -> &'static [PropertySpec];

    /// Checked values for some properties, defaults for the others ⇒ component.
    fn with(given: &Properties) -> Result<Self, PropertyError> {
        let mut component = Self::default();
        for (name, value) in complete(Self::TYPE_NAME, Self::type_specs(), given)? {
            component.set(&name, value)?;
        }
        Ok(component)
    }
}
