//! Positions and orientations.
//!
//! An orientation maps body coordinates to the world: a quaternion [w, x, y, z]; an axis and a right-handed angle; or
//! Euler angles [x, y, z], turned in this order about the fixed axes, R = R_z R_y R_x.

use crate::document::{Content, Fields, Node};
use crate::source::Read;
use crate::units::{ANGLE, LENGTH, NUMBER, Units};
use glam::DQuat;
use rattleback_geometry::{Pose, from_axis_angle, normalized};

const EXPECTED: &str = "a quaternion [w, x, y, z], { axis = [x, y, z], angle = … } or { euler = [x, y, z] }";

/// Orientation in any of its forms ⇒ unit quaternion.
pub(crate) fn orientation(key: &str, node: &Node, units: &Units) -> Read<DQuat> {
    if let Content::Table(_) = &node.content {
        return turned(key, node, units);
    }
    let [w, x, y, z] = node.list_of::<4>(key, EXPECTED)?;
    let number = |node: &Node| node.plain_number(key);
    let q = DQuat::from_xyzw(number(x)?, number(y)?, number(z)?, number(w)?);
    normalized(q).map_err(|_| node.out_of_range(key, "a quaternion that is not zero"))
}

fn turned(key: &str, node: &Node, units: &Units) -> Read<DQuat> {
    let fields = Fields::of("orientation", node, &["axis", "angle", "euler"])?;
    if let Some(euler) = fields.get("euler") {
        Fields::of("orientation by Euler angles", node, &["euler"])?;
        let angles = euler.vector("euler", units, ANGLE)?;
        let (x, y) = (DQuat::from_rotation_x(angles.x), DQuat::from_rotation_y(angles.y));
        return Ok((DQuat::from_rotation_z(angles.z) * y * x).normalize());
    }
    let axis_node = fields.required("axis", "direction to turn about")?;
    let axis = axis_node.vector("axis", units, NUMBER)?;
    let angle = fields.required("angle", "how far, right-handed")?.number("angle", units, ANGLE)?;
    let q =
        from_axis_angle(axis, angle).map_err(|_| axis_node.out_of_range("axis", "a direction, not zero"))?;
    normalized(q).map_err(|_| axis_node.out_of_range(key, "a direction and an angle"))
}

/// Keys `position` and `orientation` of a table ⇒ pose; the origin where they are missing.
pub(crate) fn pose(fields: &Fields<'_>, units: &Units) -> Read<Pose> {
    let position = fields.map("position", |node| node.vector("position", units, LENGTH))?.unwrap_or_default();
    let rotation = fields.map("orientation", |node| orientation("orientation", node, units))?;
    Ok(Pose::new(rotation.unwrap_or(DQuat::IDENTITY), position))
}
