//! Where a body's mass comes from.

use crate::document::{Content, Fields, Node};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use crate::units::{AREA_DENSITY, DENSITY, Dimension, INERTIA, LENGTH, MASS, Units};
use glam::{DMat3, DVec3};
use rattleback_geometry::{MassModel, MassProperties};

/// Density, mass, or everything.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MassSource {
    Density(f64),
    Mass(f64),
    Given(MassProperties),
}

/// Keys `density`, `mass` and `mass_properties` of a body, of which one at most is allowed ⇒ source and its place.
pub(super) fn source(
    fields: &Fields<'_>,
    units: &Units,
    model: MassModel,
) -> Read<Option<(MassSource, Span)>> {
    let mut found: Option<(MassSource, Span)> = None;
    for key in ["density", "mass", "mass_properties"] {
        let Some(node) = fields.get(key) else { continue };
        if found.is_some() {
            let message = "`density`, `mass` and `mass_properties` exclude each other; give one of them";
            return Err(Fault::new(node.span, Problem::Conflict(message.into())));
        }
        let source = match key {
            "density" => MassSource::Density(node.positive(key, units, density_dimension(model))?),
            "mass" => MassSource::Mass(node.positive(key, units, MASS)?),
            _ => MassSource::Given(properties(node, units)?),
        };
        found = Some((source, node.span));
    }
    Ok(found)
}

/// Mass per volume, or per area where only the surface weighs.
pub(super) const fn density_dimension(model: MassModel) -> Dimension {
    if matches!(model, MassModel::Surface { .. }) { AREA_DENSITY } else { DENSITY }
}

fn properties(node: &Node, units: &Units) -> Read<MassProperties> {
    let fields = Fields::of("mass_properties", node, &["mass", "center", "inertia"])?;
    let mass = fields.required("mass", "in the scene's unit of mass")?.positive("mass", units, MASS)?;
    let center = fields.map("center", |node| node.vector("center", units, LENGTH))?.unwrap_or_default();
    let inertia_node = fields.required("inertia", "about the centre of mass: 3, 6 or 9 numbers")?;
    let inertia = inertia(inertia_node, units)?;
    MassProperties::new(mass, center, inertia)
        .map_err(|error| Fault::new(inertia_node.span, Problem::Refused(error.to_string())))
}

/// [I_xx, I_yy, I_zz], [I_xx, I_yy, I_zz, I_xy, I_xz, I_yz] or the nine of the tensor row by row ⇒ tensor.
fn inertia(node: &Node, units: &Units) -> Read<DMat3> {
    const EXPECTED: &str = "3 numbers (diagonal), 6 (xx, yy, zz, xy, xz, yz) or 9 (row by row)";
    let list = node.list("inertia", EXPECTED)?;
    let n = list.iter().map(|node| node.number("inertia", units, INERTIA)).collect::<Read<Vec<f64>>>()?;
    match n[..] {
        [xx, yy, zz] => Ok(DMat3::from_diagonal(DVec3::new(xx, yy, zz))),
        [xx, yy, zz, xy, xz, yz] => Ok(DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])),
        [a, b, c, d, e, f, g, h, i] => Ok(DMat3::from_cols_array(&[a, d, g, b, e, h, c, f, i])),
        _ => Err(node.wrong_type("inertia", EXPECTED)),
    }
}

/// Key `mass_model` of a body: a word, or a table with its type and settings.
pub(super) fn model(node: &Node) -> Read<MassModel> {
    const MODELS: &[(&str, MassModel)] = &[
        ("exact", MassModel::Exact),
        ("sampled", MassModel::Sampled { resolution: 32, refined: true }),
        ("surface", MassModel::Surface { segments: 32 }),
    ];
    let Content::Table(_) = &node.content else { return node.word("mass_model", MODELS) };
    let fields = Fields::of("mass_model", node, &["type", "resolution", "refined", "segments"])?;
    let model = fields.required("type", "exact, sampled or surface")?.word("mass_model", MODELS)?;
    let whole = |key: &str, low, high, default: u32| {
        let given = fields.map(key, |node| node.integer_within(key, low, high))?;
        Ok::<u32, Fault>(given.map_or(default, |number| number as u32))
    };
    match model {
        MassModel::Exact => Fields::of("the exact mass model", node, &["type"]).map(|_| model),
        MassModel::Sampled { resolution, refined } => {
            Fields::of("the sampled mass model", node, &["type", "resolution", "refined"])?;
            Ok(MassModel::Sampled {
                resolution: whole("resolution", 1, 256, resolution)?,
                refined: fields.map("refined", |node| node.flag("refined"))?.unwrap_or(refined),
            })
        }
        MassModel::Surface { segments } => {
            Fields::of("the surface mass model", node, &["type", "segments"])?;
            Ok(MassModel::Surface { segments: whole("segments", 3, 256, segments)? })
        }
    }
}

/// Key `point_masses` of a body: a list of { mass, position }.
pub(super) fn point_masses(node: &Node, units: &Units) -> Read<Vec<(f64, DVec3)>> {
    let masses = node.tables("point_masses")?.into_iter().map(|node| {
        let fields = Fields::of("a point mass", node, &["mass", "position"])?;
        let mass = fields.required("mass", "in the scene's unit of mass")?.positive("mass", units, MASS)?;
        Ok((mass, fields.required("position", "in the body frame")?.vector("position", units, LENGTH)?))
    });
    masses.collect()
}
