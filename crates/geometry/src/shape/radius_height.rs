//! What shapes of a radius and a height along z have in common: checked construction and reading.

/// Defines a shape of a radius and a height: (name of the type, name in errors, what the height is).
macro_rules! radius_and_height {
    ($(#[$doc:meta])* $shape:ident, $name:literal, $height:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "Unchecked")]
        pub struct $shape {
            radius: f64,
            height: f64,
        }

        #[derive(serde::Deserialize)]
        struct Unchecked {
            radius: f64,
            height: f64,
        }

        impl TryFrom<Unchecked> for $shape {
            type Error = $crate::ShapeError;

            fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
                Self::new(read.radius, read.height)
            }
        }

        impl $shape {
            #[doc = concat!("(radius, ", $height, ") ⇒ ", $name, ".")]
            pub fn new(radius: f64, height: f64) -> Result<Self, $crate::ShapeError> {
                let length = |parameter, value| crate::shape::error::length($name, parameter, value);
                Ok(Self { radius: length("radius", radius)?, height: length("height", height)? })
            }

            /// Radius.
            pub const fn radius(&self) -> f64 {
                self.radius
            }

            #[doc = concat!("Height: ", $height, ".")]
            pub const fn height(&self) -> f64 {
                self.height
            }
        }
    };
}

pub(super) use radius_and_height;
