//! Poses and orientations: `quat`, `axisangle`, `xyaxes`, `zaxis` or `euler`.

use super::classes::View;
use super::compiler::Compiler;
use crate::robot::xml::Attribute;
use crate::source::Read;
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::Pose;

/// Orientation of an element; the identity if it has none.
pub(super) fn orientation(view: &View<'_>, compiler: &Compiler) -> Read<DQuat> {
    // An alternative of the element takes precedence over the `quat` of its class.
    let alternative = ["axisangle", "xyaxes", "zaxis", "euler"].into_iter().find_map(|name| view.get(name));
    let Some(given) = alternative else {
        return view.get("quat").map_or(Ok(DQuat::IDENTITY), Attribute::quaternion);
    };
    match given.name.as_str() {
        "axisangle" => {
            let [x, y, z, angle] = given.array()?;
            let axis = DVec3::new(x, y, z).try_normalize();
            let axis = axis.ok_or_else(|| given.refuse("an axis that is not zero, and an angle"))?;
            Ok(DQuat::from_axis_angle(axis, angle * compiler.angle))
        }
        "xyaxes" => {
            let [a, b, c, d, e, f] = given.array()?;
            let refuse = || given.refuse("two directions that are not parallel");
            let x = DVec3::new(a, b, c).try_normalize().ok_or_else(refuse)?;
            let y = DVec3::new(d, e, f);
            let y = (y - x * x.dot(y)).try_normalize().ok_or_else(refuse)?;
            Ok(DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize())
        }
        "zaxis" => Ok(z_to(given.direction()?)),
        _ => {
            let angles = given.vector()? * compiler.angle;
            let mut turned = DQuat::IDENTITY;
            for (axis, angle) in compiler.euler.into_iter().zip(angles.to_array()) {
                let about = match axis.to_ascii_lowercase() {
                    b'x' => DQuat::from_rotation_x(angle),
                    b'y' => DQuat::from_rotation_y(angle),
                    _ => DQuat::from_rotation_z(angle),
                };
                turned = if axis.is_ascii_lowercase() { turned * about } else { about * turned };
            }
            Ok(turned.normalize())
        }
    }
}

/// The shortest rotation from z to a unit vector.
pub(super) fn z_to(axis: DVec3) -> DQuat {
    let across = DVec3::Z.cross(axis);
    let sine = across.length();
    match across.try_normalize() {
        Some(about) => DQuat::from_axis_angle(about, sine.atan2(axis.z)),
        None if axis.z < 0.0 => DQuat::from_rotation_x(std::f64::consts::PI),
        None => DQuat::IDENTITY,
    }
}

/// `pos` and orientation of an element.
pub(super) fn pose(view: &View<'_>, compiler: &Compiler) -> Read<Pose> {
    Ok(Pose::new(orientation(view, compiler)?, view.vector("pos")?))
}
