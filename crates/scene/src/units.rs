//! Units of a scene file, converted to SI when values are read.
//!
//! A scene names its units of length, mass and angle; seconds and coulombs are always meant as such. Every other
//! quantity is taken in the coherent system these span: with length unit L and mass unit M (in m and kg), a quantity
//! of dimension massᵃ lengthᵇ angleᶜ is multiplied by Mᵃ Lᵇ Aᶜ. So with mm and g a force is in g·mm/s² = 10⁻⁶ N.

use crate::document::{Fields, Node};
use crate::source::Read;

/// Exponents of mass, length and angle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dimension {
    mass: i32,
    length: i32,
    angle: i32,
}

const fn dimension(mass: i32, length: i32, angle: i32) -> Dimension {
    Dimension { mass, length, angle }
}

/// A pure number, or something in seconds or coulombs only.
pub(crate) const NUMBER: Dimension = dimension(0, 0, 0);
/// A length, speed or acceleration.
pub(crate) const LENGTH: Dimension = dimension(0, 1, 0);
/// A mass.
pub(crate) const MASS: Dimension = dimension(1, 0, 0);
/// Mass per volume.
pub(crate) const DENSITY: Dimension = dimension(1, -3, 0);
/// Mass per area.
pub(crate) const AREA_DENSITY: Dimension = dimension(1, -2, 0);
/// A moment of inertia.
pub(crate) const INERTIA: Dimension = dimension(1, 2, 0);
/// A force.
pub(crate) const FORCE: Dimension = dimension(1, 1, 0);
/// A torque.
pub(crate) const TORQUE: Dimension = dimension(1, 2, 0);
/// An angle or angular velocity.
pub(crate) const ANGLE: Dimension = dimension(0, 0, 1);

impl Dimension {
    /// SI unit such as "N·s²/m²" ⇒ its dimension; nothing if the unit is not known.
    pub fn of_unit(unit: &str) -> Option<Self> {
        let mut total = NUMBER;
        for (place, product) in unit.split('/').enumerate() {
            let sign = if place == 0 { 1 } else { -1 };
            for factor in product.split('·').filter(|factor| !factor.is_empty() && *factor != "1") {
                let (symbol, power) = match factor.strip_suffix('²') {
                    Some(symbol) => (symbol, 2),
                    None => factor.strip_suffix('³').map_or((factor, 1), |symbol| (symbol, 3)),
                };
                let base = match symbol {
                    "m" => LENGTH,
                    "kg" => MASS,
                    "rad" => ANGLE,
                    "s" | "Hz" | "C" => NUMBER,
                    "N" => dimension(1, 1, 0),
                    "J" | "W" => dimension(1, 2, 0),
                    "Pa" => dimension(1, -1, 0),
                    _ => return None,
                };
                total.mass += sign * power * base.mass;
                total.length += sign * power * base.length;
                total.angle += sign * power * base.angle;
            }
        }
        Some(total)
    }
}

/// The units of a scene, in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Units {
    length: f64,
    mass: f64,
    angle: f64,
}

impl Default for Units {
    fn default() -> Self {
        Self { length: 1.0, mass: 1.0, angle: 1.0 }
    }
}

const LENGTHS: &[(&str, f64)] =
    &[("m", 1.0), ("cm", 1e-2), ("mm", 1e-3), ("um", 1e-6), ("km", 1e3), ("in", 0.0254), ("ft", 0.3048)];
const MASSES: &[(&str, f64)] = &[("kg", 1.0), ("g", 1e-3), ("mg", 1e-6), ("t", 1e3), ("lb", 0.453_592_37)];
const ANGLES: &[(&str, f64)] = &[("rad", 1.0), ("deg", std::f64::consts::PI / 180.0)];

impl Units {
    /// The `[units]` table ⇒ units.
    pub fn read(node: &Node) -> Read<Self> {
        let fields = Fields::of("units", node, &["length", "mass", "angle"])?;
        let unit =
            |key: &str, known| fields.map(key, |node| node.word(key, known)).map(|unit| unit.unwrap_or(1.0));
        Ok(Self {
            length: unit("length", LENGTHS)?,
            mass: unit("mass", MASSES)?,
            angle: unit("angle", ANGLES)?,
        })
    }

    /// Factor from a quantity of this dimension in the units of the scene to SI.
    pub fn factor(&self, dimension: Dimension) -> f64 {
        self.mass.powi(dimension.mass) * self.length.powi(dimension.length) * self.angle.powi(dimension.angle)
    }

    /// Whether everything is in SI already.
    pub fn are_si(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_strings_have_their_dimensions() {
        for (unit, expected) in [
            ("", (0, 0, 0)),
            ("m/s²", (0, 1, 0)),
            ("kg/m³", (1, -3, 0)),
            ("N·m²/kg²", (-1, 3, 0)),
            ("N·s/m³", (1, -2, 0)),
            ("N·s²/m²", (1, -1, 0)),
            ("rad/s", (0, 0, 1)),
            ("1/s", (0, 0, 0)),
        ] {
            assert_eq!(
                Dimension::of_unit(unit),
                Some(dimension(expected.0, expected.1, expected.2)),
                "{unit}"
            );
        }
        assert_eq!(Dimension::of_unit("furlong"), None);
    }

    /// Every unit the engine's own components use is known.
    #[test]
    fn the_registry_uses_known_units() {
        let registry = rattleback_dynamics::Registry::default();
        let specs = registry.forces.iter().flat_map(|entry| &entry.properties);
        let specs = specs.chain(registry.shapes.iter().flat_map(|entry| &entry.properties));
        let specs = specs.chain(registry.materials.iter().flat_map(|entry| &entry.properties));
        for spec in specs.chain(registry.simulators.iter().flat_map(|entry| &entry.properties)) {
            assert!(Dimension::of_unit(&spec.unit).is_some(), "{}: {}", spec.name, spec.unit);
        }
    }
}
