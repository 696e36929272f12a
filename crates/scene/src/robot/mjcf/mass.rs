//! Mass of a body: given, or that of its geoms, and the corrections that the compiler makes.

use super::classes::View;
use super::compiler::{Compiler, InertiaFromGeom};
use super::orientation::pose;
use crate::error::Problem;
use crate::robot::build::Draft;
use crate::robot::xml::Element;
use crate::source::{Fault, Read};
use glam::{DMat3, DVec3};
use rattleback_geometry::{MassProperties, Pose, symmetric_eigen};

/// Mass, kg, centre of mass, m, and inertia about it, kg·m², in the body's frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mass {
    pub total: f64,
    pub center: DVec3,
    pub inertia: DMat3,
}

/// Whether the geoms of a body count, given whether it has an `inertial`.
pub(super) fn from_geoms(compiler: &Compiler, has_inertial: bool) -> bool {
    match compiler.inertia_from_geom {
        InertiaFromGeom::Always => true,
        InertiaFromGeom::Never => false,
        InertiaFromGeom::Auto => !has_inertial,
    }
}

/// An `inertial` element.
pub(super) fn inertial(view: &View<'_>, frame: Pose, compiler: &Compiler) -> Read<Mass> {
    let element = view.element;
    element.required("pos", "centre of mass")?;
    let place = frame * pose(view, compiler)?;
    element.required("mass", "kg")?;
    let mass = view.non_negative("mass")?;
    let tensor = match (element.get("diaginertia"), element.get("fullinertia")) {
        (_, Some(full)) => {
            let [xx, yy, zz, xy, xz, yz] = full.array()?;
            DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
        }
        (Some(diagonal), None) => DMat3::from_diagonal(diagonal.vector()?),
        (None, None) => return Err(element.missing("diaginertia", "moments, kg·m², or `fullinertia`")),
    };
    let r = place.rotation_matrix();
    let turned = r * tensor * r.transpose();
    Ok(Mass { total: mass, center: place.translation, inertia: 0.5 * (turned + turned.transpose()) })
}

/// Masses of geoms ⇒ that of the body.
pub(super) fn combined(parts: &[MassProperties], element: &Element) -> Read<Mass> {
    if parts.is_empty() {
        return Ok(Mass::default());
    }
    let whole = match parts {
        [one] => Ok(*one),
        _ => MassProperties::combine(parts),
    };
    let MassProperties { mass, center_of_mass: center, inertia } =
        whole.map_err(|error| Fault::new(element.span, Problem::Refused(error.to_string())))?;
    Ok(Mass { total: mass, center, inertia })
}

impl Mass {
    /// Lower bounds and balance of principal moments.
    pub fn corrected(mut self, compiler: &Compiler) -> Self {
        self.total = self.total.max(compiler.bound_mass);
        if compiler.bound_inertia <= 0.0 && !compiler.balance_inertia {
            return self;
        }
        let (moments, axes) = symmetric_eigen(self.inertia);
        let mut bounded = moments.max(DVec3::splat(compiler.bound_inertia));
        if compiler.balance_inertia && 2.0 * bounded.max_element() > bounded.element_sum() {
            bounded = DVec3::splat(bounded.element_sum() / 3.0);
        }
        if bounded != moments {
            self.inertia = axes * DMat3::from_diagonal(bounded) * axes.transpose();
            self.inertia = 0.5 * (self.inertia + self.inertia.transpose());
        }
        self
    }
}

/// Scales all masses so that their sum is what the `compiler` element gives.
pub(super) fn set_total(compiler: &Compiler, draft: &mut Draft) {
    let Some(wanted) = compiler.total_mass else { return };
    let total: f64 = draft.links.iter().map(|(link, ..)| link.mass).sum();
    if total > 0.0 {
        for (link, ..) in &mut draft.links {
            link.mass *= wanted / total;
            link.inertia *= wanted / total;
        }
    }
}
