//! Dynamic values: what a component's property can hold.

use crate::impact::Restitution;
use crate::signal::Signal;
use crate::simulator::sequential::Relaxation;
use crate::world::BodyId;
use glam::{DQuat, DVec3};
use rattleback_geometry::space::SpaceKind;
use serde::{Deserialize, Serialize};

/// A value whose type is known at run time only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A string, or one of several words.
    Text(String),
    /// A vector.
    Vec3(DVec3),
    /// A unit quaternion.
    Quat(DQuat),
    /// Whole numbers.
    IntList(Vec<i64>),
    /// Numbers.
    RealList(Vec<f64>),
    /// Points or vectors.
    Vec3List(Vec<DVec3>),
    /// Index loops, such as the faces of a polyhedron.
    IndexLists(Vec<Vec<u32>>),
    /// A number that may change with time.
    Signal(Signal<f64>),
    /// A vector that may change with time.
    VectorSignal(Signal<DVec3>),
    /// A body, or the world itself.
    Body(Option<BodyId>),
}

/// The types a [`Value`] can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // one for each variant of Value
pub enum ValueType {
    Bool,
    Int,
    Real,
    Text,
    Vec3,
    Quat,
    IntList,
    RealList,
    Vec3List,
    IndexLists,
    Signal,
    VectorSignal,
    Body,
}

impl ValueType {
    /// The type as a user would call it.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int => "a whole number",
            Self::Real => "a number",
            Self::Text => "a string",
            Self::Vec3 => "a vector of three numbers",
            Self::Quat => "a quaternion [w, x, y, z]",
            Self::IntList => "a list of whole numbers",
            Self::RealList => "a list of numbers",
            Self::Vec3List => "a list of vectors",
            Self::IndexLists => "a list of index lists",
            Self::Signal => "a number or a signal of time",
            Self::VectorSignal => "a vector or a vector signal of time",
            Self::Body => "the name of a body, or \"world\"",
        }
    }
}

impl Value {
    /// What type this value has.
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::Bool(_) => ValueType::Bool,
            Self::Int(_) => ValueType::Int,
            Self::Real(_) => ValueType::Real,
            Self::Text(_) => ValueType::Text,
            Self::Vec3(_) => ValueType::Vec3,
            Self::Quat(_) => ValueType::Quat,
            Self::IntList(_) => ValueType::IntList,
            Self::RealList(_) => ValueType::RealList,
            Self::Vec3List(_) => ValueType::Vec3List,
            Self::IndexLists(_) => ValueType::IndexLists,
            Self::Signal(_) => ValueType::Signal,
            Self::VectorSignal(_) => ValueType::VectorSignal,
            Self::Body(_) => ValueType::Body,
        }
    }

    /// The same value as `wanted` where nothing is lost: whole numbers count as numbers, constants as signals, lists of
    /// three as vectors.
    #[must_use]
    pub fn coerced(self, wanted: ValueType) -> Self {
        match (self, wanted) {
            (Self::Int(n), ValueType::Real) => Self::Real(n as f64),
            (Self::Int(n), ValueType::Signal) => Self::Signal(Signal::Constant(n as f64)),
            (Self::Real(x), ValueType::Signal) => Self::Signal(Signal::Constant(x)),
            (Self::Vec3(v), ValueType::VectorSignal) => Self::VectorSignal(Signal::Constant(v)),
            (Self::IntList(list), ValueType::RealList) => {
                Self::RealList(list.iter().map(|n| *n as f64).collect())
            }
            (Self::IntList(list), wanted @ (ValueType::Vec3 | ValueType::Quat | ValueType::VectorSignal)) => {
                Self::RealList(list.iter().map(|n| *n as f64).collect()).coerced(wanted)
            }
            (Self::RealList(list), ValueType::Vec3) if list.len() == 3 => {
                Self::Vec3(DVec3::new(list[0], list[1], list[2]))
            }
            (Self::RealList(list), ValueType::VectorSignal) if list.len() == 3 => {
                Self::VectorSignal(Signal::Constant(DVec3::new(list[0], list[1], list[2])))
            }
            (Self::RealList(list), ValueType::Quat) if list.len() == 4 => {
                Self::Quat(DQuat::from_xyzw(list[1], list[2], list[3], list[0]))
            }
            (value, _) => value,
        }
    }

    /// Every number inside, for range checks.
    pub fn numbers(&self) -> Vec<f64> {
        let flat = |vectors: &[DVec3]| vectors.iter().flat_map(DVec3::to_array).collect();
        match self {
            Self::Bool(_) | Self::Text(_) | Self::Body(_) => Vec::new(),
            Self::Int(n) => vec![*n as f64],
            Self::Real(x) => vec![*x],
            Self::Vec3(v) => v.to_array().to_vec(),
            Self::Quat(q) => q.to_array().to_vec(),
            Self::IntList(list) => list.iter().map(|n| *n as f64).collect(),
            Self::RealList(list) => list.clone(),
            Self::Vec3List(list) => flat(list),
            Self::IndexLists(lists) => lists.iter().flatten().map(|n| f64::from(*n)).collect(),
            Self::Signal(signal) => signal.extremes(),
            Self::VectorSignal(signal) => flat(&signal.extremes()),
        }
    }
}

/// As it would stand in a scene file; only signals carry their type.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn list<T>(
            f: &mut std::fmt::Formatter<'_>,
            items: &[T],
            show: impl Fn(&T, &mut std::fmt::Formatter<'_>) -> std::fmt::Result,
        ) -> std::fmt::Result {
            write!(f, "[")?;
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    write!(f, ", ")?;
                }
                show(item, f)?;
            }
            write!(f, "]")
        }
        match self {
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Real(x) => write!(f, "{x}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Vec3(v) => write!(f, "{v}"),
            Self::Quat(q) => write!(f, "[{}, {}, {}, {}]", q.w, q.x, q.y, q.z),
            Self::IntList(items) => list(f, items, |n, f| write!(f, "{n}")),
            Self::RealList(items) => list(f, items, |x, f| write!(f, "{x}")),
            Self::Vec3List(items) => list(f, items, |v, f| write!(f, "{v}")),
            Self::IndexLists(items) => list(f, items, |loops, f| list(f, loops, |n, f| write!(f, "{n}"))),
            Self::Signal(signal) => write!(f, "{signal}"),
            Self::VectorSignal(signal) => write!(f, "{signal}"),
            Self::Body(Some(body)) => write!(f, "{body}"),
            Self::Body(None) => write!(f, "the world"),
        }
    }
}

/// A Rust type that a property can have.
pub trait PropertyType: Sized {
    /// Its dynamic type.
    const TYPE: ValueType;
    /// Value ⇒ dynamic value.
    fn to_value(&self) -> Value;
    /// Dynamic value of the right type ⇒ value; nothing otherwise.
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! property_type {
    ($rust:ty, $variant:ident) => {
        impl PropertyType for $rust {
            const TYPE: ValueType = ValueType::$variant;
            fn to_value(&self) -> Value {
                Value::$variant(self.clone())
            }
            fn from_value(value: Value) -> Option<Self> {
                match value {
                    Value::$variant(inner) => Some(inner),
                    _ => None,
                }
            }
        }
    };
}

/// A choice among named variants.
macro_rules! choice {
    ($rust:ty, $names:expr) => {
        impl PropertyType for $rust {
            const TYPE: ValueType = ValueType::Text;
            fn to_value(&self) -> Value {
                let name = $names.into_iter().find(|(_, choice)| choice == self).map(|(name, _)| name);
                Value::Text(name.unwrap_or_default().into())
            }
            fn from_value(value: Value) -> Option<Self> {
                let Value::Text(word) = value else { return None };
                $names.into_iter().find(|(name, _)| *name == word).map(|(_, choice)| choice)
            }
        }
    };
}

choice!(SpaceKind, SpaceKind::ALL.map(|kind| (kind.name(), kind)));
choice!(Restitution, Restitution::NAMES);
choice!(Relaxation, Relaxation::NAMES);
property_type!(bool, Bool);
property_type!(i64, Int);
property_type!(f64, Real);
property_type!(String, Text);
property_type!(DVec3, Vec3);
property_type!(DQuat, Quat);
property_type!(Vec<i64>, IntList);
property_type!(Vec<f64>, RealList);
property_type!(Vec<DVec3>, Vec3List);
property_type!(Vec<Vec<u32>>, IndexLists);
property_type!(Signal<f64>, Signal);
property_type!(Signal<DVec3>, VectorSignal);
property_type!(Option<BodyId>, Body);
