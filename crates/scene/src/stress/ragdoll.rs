//! A ragdoll of fourteen capsules and thirteen joints.

use super::{StressBody, StressJoint, StressLimits};
use glam::{DQuat, DVec3};
use rattleback_dynamics::{CollisionGroups, Status};
use rattleback_geometry::{Pose, Shape, ShapeError};

/// Position, and quaternion x, y, z, w.
type Placed = ([f64; 3], [f64; 4]);

/// How a bone hangs on another: frames in the parent and in itself with the cone or hinge about z, half angle of the cone (none
/// for a hinge) and range of twist or hinge in degrees, a fifth of the friction in N m.
struct BoneJoint {
    parent: usize,
    frames: [Placed; 2],
    cone: Option<f64>,
    range: [f64; 2],
    friction: f64,
}

/// A capsule in its own frame, and the pose of that frame.
struct Bone {
    place: Placed,
    ends: [[f64; 3]; 2],
    radius: f64,
    /// Whether it does not touch others that are so too.
    no_self_contact: bool,
    joint: Option<BoneJoint>,
}

/// From the pelvis up to the head, legs, arms.
#[rustfmt::skip]
const BONES: [Bone; 14] = [
    Bone { place: ([0.0, 0.9321, -0.0517], [0.7392, 0.0, 0.0, 0.6735]), ends: [[0.07, 0.0, -0.08], [-0.07, 0.0, -0.08]], radius: 0.13, no_self_contact: false, joint: None },
    Bone { place: ([0.0, 1.1135, -0.0348], [0.74, 0.0, 0.0, 0.6726]), ends: [[0.06, 0.0, -0.0523], [-0.06, 0.0, -0.0523]], radius: 0.12, no_self_contact: true, joint: Some(BoneJoint { parent: 0, frames: [([0.0, 0.0, -0.1822], [-1.0, 0.0, 0.0, 0.0012]), ([0.0, 0.0, -0.0077], [-1.0, 0.0, 0.0, 0.0])], cone: Some(25.0), range: [-15.0, 15.0], friction: 1.0 }) },
    Bone { place: ([0.0, 1.1943, -0.0271], [0.7036, 0.0, 0.0, 0.7106]), ends: [[0.08, -0.0151, -0.0918], [-0.08, -0.0151, -0.0918]], radius: 0.1, no_self_contact: false, joint: Some(BoneJoint { parent: 1, frames: [([0.0, 0.0, -0.0889], [-0.9986, 0.0, 0.0, -0.0525]), ([0.0, 0.0, -0.0082], [-1.0, 0.0, 0.0, 0.0])], cone: Some(25.0), range: [-15.0, 15.0], friction: 1.0 }) },
    Bone { place: ([0.0, 1.3104, -0.0282], [0.6699, 0.0, 0.0, 0.7425]), ends: [[0.11, -0.0398, -0.13], [-0.11, -0.0398, -0.13]], radius: 0.145, no_self_contact: false, joint: Some(BoneJoint { parent: 2, frames: [([0.0, 0.0, -0.1243], [-0.9989, 0.0, 0.0, -0.0464]), ([0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0])], cone: Some(15.0), range: [-10.0, 10.0], friction: 1.0 }) },
    Bone { place: ([0.0, 1.5756, -0.0558], [0.8799, 0.0, 0.0, 0.4751]), ends: [[0.0, 0.0, -0.02], [0.0, -0.005, -0.08]], radius: 0.07, no_self_contact: false, joint: Some(BoneJoint { parent: 3, frames: [([0.0, -0.0003, -0.2666], [-0.9422, 0.0, 0.0, 0.3351]), ([0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0])], cone: Some(45.0), range: [-15.0, 15.0], friction: 0.8 }) },
    Bone { place: ([0.0, 1.6533, -0.0032], [0.7503, 0.0, 0.0, 0.6611]), ends: [[0.0, 0.0169, -0.0587], [0.0, -0.0036, -0.1151]], radius: 0.0975, no_self_contact: false, joint: Some(BoneJoint { parent: 4, frames: [([0.0, 0.0013, -0.0939], [-0.9743, 0.0, 0.0, -0.2253]), ([0.0, 0.0013, -0.0051], [-1.0, 0.0, 0.0, 0.0])], cone: Some(15.0), range: [-15.0, 15.0], friction: 0.4 }) },
    Bone { place: ([0.0904, 0.9861, -0.0351], [-0.7033, -0.0707, 0.0539, 0.7053]), ends: [[0.0237, 0.006, -0.0391], [-0.0645, -0.0047, -0.4247]], radius: 0.09, no_self_contact: true, joint: Some(BoneJoint { parent: 0, frames: [([0.05, 0.0115, -0.0553], [-0.7149, -0.0223, -0.6984, -0.0268]), ([0.0, 0.0, 0.0], [-0.0021, 0.759, 0.017, 0.6509])], cone: Some(10.0), range: [-60.0, 40.0], friction: 1.0 }) },
    Bone { place: ([0.1012, 0.527, -0.0374], [-0.6533, -0.0669, 0.0586, 0.7518]), ends: [[0.0018, 0.0, 0.0098], [-0.0786, 0.0147, -0.4182]], radius: 0.075, no_self_contact: false, joint: Some(BoneJoint { parent: 6, frames: [([-0.07, 0.0003, -0.4538], [-0.0007, 0.7601, 0.1057, 0.6412]), ([0.0, 0.0, 0.0], [-0.0446, 0.7655, 0.0534, 0.6396])], cone: None, range: [-5.0, 45.0], friction: 1.0 }) },
    Bone { place: ([-0.0904, 0.9861, -0.0351], [-0.7033, 0.0707, -0.0539, 0.7053]), ends: [[-0.0237, 0.006, -0.0391], [0.0645, -0.0047, -0.4247]], radius: 0.09, no_self_contact: true, joint: Some(BoneJoint { parent: 0, frames: [([-0.05, 0.0115, -0.0553], [-0.0391, -0.7141, 0.0432, 0.6976]), ([0.0, 0.0, 0.0], [0.7588, -0.0199, -0.651, -0.0018])], cone: Some(10.0), range: [-30.0, 60.0], friction: 1.0 }) },
    Bone { place: ([-0.1012, 0.527, -0.0374], [-0.6533, 0.0669, -0.0586, 0.7518]), ends: [[-0.0018, 0.0, 0.0101], [0.0779, 0.0148, -0.418]], radius: 0.075, no_self_contact: false, joint: Some(BoneJoint { parent: 8, frames: [([0.07, 0.0003, -0.4538], [0.7601, -0.0007, -0.6412, -0.1057]), ([0.0, 0.0, 0.0], [0.7655, -0.0446, -0.6396, -0.0534])], cone: None, range: [-45.0, 5.0], friction: 1.0 }) },
    Bone { place: ([0.2038, 1.4843, -0.1159], [0.1431, 0.696, -0.6901, 0.1373]), ends: [[0.0, 0.0, 0.0], [-0.0911, 0.0378, 0.2297]], radius: 0.075, no_self_contact: false, joint: Some(BoneJoint { parent: 3, frames: [([0.2038, -0.0694, -0.1819], [-0.2785, 0.4456, -0.097, 0.8453]), ([0.0, 0.0, 0.0], [-0.2014, -0.0016, 0.9019, 0.3822])], cone: Some(60.0), range: [-5.0, 5.0], friction: 1.0 }) },
    Bone { place: ([0.3056, 1.2429, -0.1176], [0.165, 0.5634, -0.802, 0.11]), ends: [[0.0, 0.0, 0.0], [-0.1424, 0.0394, 0.2611]], radius: 0.05, no_self_contact: false, joint: Some(BoneJoint { parent: 10, frames: [([-0.0955, 0.0396, 0.2407], [0.5125, -0.1806, 0.8395, 0.0037]), ([0.0, 0.0, 0.0], [0.5038, -0.0298, 0.8582, 0.094])], cone: None, range: [-5.0, 60.0], friction: 1.0 }) },
    Bone { place: ([-0.2038, 1.4843, -0.1159], [0.1431, -0.696, 0.6901, 0.1373]), ends: [[0.0, 0.0, 0.0], [0.0911, 0.0378, 0.2297]], radius: 0.075, no_self_contact: false, joint: Some(BoneJoint { parent: 3, frames: [([-0.2038, -0.0694, -0.1819], [-0.2536, -0.4148, 0.107, 0.8673]), ([0.0, 0.0, 0.0], [-0.2014, 0.0016, -0.9019, 0.3822])], cone: Some(60.0), range: [-5.0, 5.0], friction: 1.0 }) },
    Bone { place: ([-0.3056, 1.2429, -0.1176], [0.165, -0.5634, 0.802, 0.11]), ends: [[0.0, 0.0, 0.0], [0.1424, 0.0394, 0.2611]], radius: 0.05, no_self_contact: false, joint: Some(BoneJoint { parent: 12, frames: [([0.0955, 0.0396, 0.2407], [-0.1806, 0.5125, -0.0037, -0.8395]), ([0.0, 0.0, 0.0], [-0.0298, 0.5038, -0.094, -0.8582])], cone: None, range: [-60.0, 5.0], friction: 1.0 }) },
];

fn pose((position, [x, y, z, w]): Placed) -> Pose {
    Pose::new(DQuat::from_xyzw(x, y, z, w).normalize(), DVec3::from_array(position))
}

/// Adds an upright ragdoll at a place; bones with `no_self_contact` do not collide with each other.
pub(super) fn stand(
    at: DVec3,
    group: usize,
    bodies: &mut Vec<StressBody>,
    joints: &mut Vec<StressJoint>,
) -> Result<(), ShapeError> {
    let first = bodies.len();
    for bone in &BONES {
        let [one, other] = bone.ends.map(DVec3::from_array);
        let along = other - one;
        let shape = Shape::capsule(bone.radius, along.length())?;
        let turn = DQuat::from_rotation_arc(DVec3::Z, along.normalize());
        let placed = pose(bone.place);
        let mut body = StressBody::new(Status::Dynamic, at + placed.translation, shape);
        body.shapes[0].1 = Pose::new(turn, 0.5 * (one + other));
        body.rotation = placed.rotation;
        body.surface[1] = 0.2 * bone.radius;
        if bone.no_self_contact {
            let bit = 2_u64 << (group % 60);
            body.groups = CollisionGroups { member_of: 1 | bit, touches: !bit };
        }
        if let Some(joint) = &bone.joint {
            let range = joint.range.map(f64::to_radians);
            joints.push(StressJoint {
                bodies: [first + joint.parent, bodies.len()],
                frames: joint.frames.map(pose),
                limits: match joint.cone {
                    Some(cone) => StressLimits::Socket { cone: cone.to_radians(), twist: range },
                    None => StressLimits::Hinge { range },
                },
                spring: [1.0, 0.7],
                friction: 5.0 * joint.friction,
            });
        }
        bodies.push(body);
    }
    Ok(())
}
