//! Names of joints and of their properties in scene files, where the registry has other ones.
//!
//! Scene files have `type = "fixed"` and `max_torque`, the registry of this release has `rigid` and `effort`. Scene files of earlier
//! releases have the names of the registry, so the same tables list the old names that are still read.

use rattleback_dynamics::property::{Properties, PropertySpec};
use rattleback_dynamics::registry::{Catalogue, Entry, RegistryError};
use rattleback_dynamics::{Joint, Registry};

/// (type in scene files, type in the registry)
const TYPES: &[(&str, &str)] = &[("fixed", "rigid")];

/// (type of joint, key in scene files, property in the registry)
const KEYS: &[(&str, &str, &str)] = &[
    ("revolute", "max_torque", "effort"),
    ("spherical", "max_torque", "effort"),
    ("wheel", "max_torque", "effort"),
    ("prismatic", "max_force", "effort"),
    ("distance", "max_force", "effort"),
    ("target", "max_force", "effort"),
    ("cylindrical", "max_force", "effort"),
    ("cylindrical", "max_torque", "torque"),
    ("six-axis", "max_force", "linear_effort"),
    ("six-axis", "max_torque", "angular_effort"),
];

/// Type of a joint in an earlier release ⇒ its present name, if it has changed.
pub(crate) fn renamed_type(old: &str) -> Option<&'static str> {
    TYPES.iter().find(|(_, known)| *known == old).map(|(new, _)| *new)
}

/// (type of a joint, key in an earlier release) ⇒ its present name, if it has changed.
pub(crate) fn renamed_key(joint: &str, old: &str) -> Option<&'static str> {
    KEYS.iter().find(|(known, _, key)| *known == joint && *key == old).map(|(_, new, _)| *new)
}

/// Registry ⇒ its joints under the names that scene files use.
///
/// ```
/// let joints = rattleback_scene::scene_joints(&rattleback_dynamics::Registry::default());
/// let revolute = joints.get("revolute")?;
/// assert!(joints.get("fixed").is_ok() && revolute.properties.iter().any(|spec| spec.name == "max_torque"));
/// # Ok::<(), rattleback_dynamics::registry::RegistryError>(())
/// ```
pub fn scene_joints(registry: &Registry) -> Catalogue<Box<dyn Joint>> {
    let mut joints = Catalogue::new(registry.joints.kind());
    for entry in registry.joints.iter() {
        let name = renamed_type(&entry.name).filter(|new| registry.joints.get(new).is_err());
        // Names differ from each other in the registry, and a name that is taken there is not used again.
        let _ = joints.register(in_scene(&registry.joints, entry, name.unwrap_or(&entry.name)));
    }
    joints
}

/// An entry under another name, with the keys of scene files as its properties.
fn in_scene(
    catalogue: &Catalogue<Box<dyn Joint>>,
    entry: &Entry<Box<dyn Joint>>,
    name: &str,
) -> Entry<Box<dyn Joint>> {
    let is_free = |key: &str| entry.properties.iter().all(|spec| spec.name != key);
    let key_of = |property: &str| renamed_key(&entry.name, property).filter(|key| is_free(key));
    let renamed: Vec<(&'static str, String)> = entry
        .properties
        .iter()
        .filter_map(|spec| key_of(&spec.name).map(|key| (key, spec.name.clone())))
        .collect();
    let rename = |spec: &PropertySpec| {
        let key = renamed.iter().find(|(_, property)| *property == spec.name);
        PropertySpec { name: key.map_or_else(|| spec.name.clone(), |(key, _)| (*key).into()), ..spec.clone() }
    };
    let properties = entry.properties.iter().map(rename).collect();
    let (catalogue, type_name) = (catalogue.clone(), entry.name.clone());
    Entry::new(name, &entry.doc, properties, move |given: &Properties| {
        let property = |key: &String| {
            let known = renamed.iter().find(|(new, _)| new == key);
            known.map_or_else(|| key.clone(), |(_, property)| property.clone())
        };
        let given = given.iter().map(|(key, value)| (property(key), value.clone())).collect();
        catalogue.make(&type_name, &given).map_err(|error| match error {
            RegistryError::Invalid { reason, .. } => reason,
            other => other.to_string(),
        })
    })
}
