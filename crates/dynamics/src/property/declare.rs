//! The macro that declares a component.

/// Declares a struct whose fields are properties, and implements [`Component`](crate::property::Component) for it.
///
/// ```
/// use rattleback_dynamics::{component, property::{Allowed, Component, Value}};
///
/// component! {
///     /// Pushes everything.
///     pub struct Push as "push" {
///         /// How hard.
///         strength: f64 = 2.0, "N", Allowed::NonNegative;
///     }
/// }
///
/// let mut push = Push::default();
/// push.set("strength", Value::Int(3)).unwrap();
/// assert_eq!(push.get("strength"), Ok(Value::Real(3.0)));
/// assert!(push.set("strength", Value::Real(-1.0)).is_err());
/// assert!(push.set("strenght", Value::Real(1.0)).unwrap_err().to_string().contains("did you mean `strength`"));
/// ```
#[macro_export]
macro_rules! component {
    (
        $(#[doc = $doc:literal])+
        $visibility:vis struct $name:ident as $type_name:literal {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident : $field_type:ty = $default:expr, $unit:literal, $allowed:expr;
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $( $(#[doc = $field_doc])+ pub $field: $field_type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default.into(), )* }
            }
        }

        impl $crate::property::ComponentType for $name {
            const TYPE_NAME: &'static str = $type_name;
            const DOC: &'static str = concat!($($doc, "\n"),+).trim_ascii();

            fn type_specs() -> &'static [$crate::property::PropertySpec] {
                static SPECS: std::sync::OnceLock<Vec<$crate::property::PropertySpec>> = std::sync::OnceLock::new();
                SPECS.get_or_init(|| {
                    #[allow(unused_variables)]
                    let default = Self::default();
                    vec![$(
                        $crate::property::PropertySpec {
                            name: stringify!($field).into(),
                            value_type: <$field_type as $crate::property::PropertyType>::TYPE,
                            unit: $unit.into(),
                            default: Some($crate::property::PropertyType::to_value(&default.$field)),
                            required: false,
                            allowed: $allowed,
                            doc: concat!($($field_doc),+).trim().into(),
                        },
                    )*]
                })
            }
        }

        impl $crate::property::Component for $name {
            fn type_name(&self) -> &'static str {
                $type_name
            }

            fn specs(&self) -> &'static [$crate::property::PropertySpec] {
                <Self as $crate::property::ComponentType>::type_specs()
            }

            fn get(&self, name: &str) -> Result<$crate::property::Value, $crate::property::PropertyError> {
                $(
                    if name == stringify!($field) {
                        return Ok($crate::property::PropertyType::to_value(&self.$field));
                    }
                )*
                Err($crate::property::unknown($type_name, self.specs(), name))
            }

            fn set(
                &mut self,
                name: &str,
                value: $crate::property::Value,
            ) -> Result<(), $crate::property::PropertyError> {
                let specs = self.specs();
                let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
                    return Err($crate::property::unknown($type_name, specs, name));
                };
                #[allow(unused_variables)]
                let value = $crate::property::accept($type_name, spec, value)?;
                $(
                    if name == stringify!($field) {
                        let shown = value.to_string();
                        let Some(value) = $crate::property::PropertyType::from_value(value) else {
                            return Err($crate::property::unusable($type_name, spec, &shown));
                        };
                        self.$field = value;
                        return Ok(());
                    }
                )*
                Ok(())
            }
        }
    };
}
