//! How two materials become one contact.

use super::Named;
use crate::document::{Fields, Key, Node};
use crate::source::Read;
use rattleback_dynamics::world::Combine;

/// What holds between two particular materials, as far as it differs from the rules.
#[derive(Clone, Debug)]
pub(crate) struct MixingPair<'a> {
    pub materials: (Named<'a>, Named<'a>),
    pub coefficients: Vec<(&'a Key, &'a Node)>,
}

/// The `[mixing]` table.
#[derive(Clone, Debug, Default)]
pub(crate) struct CombineRulesModel<'a> {
    pub restitution: Option<Combine>,
    pub friction: Option<Combine>,
    pub perturbation: Option<Combine>,
    pub pairs: Vec<MixingPair<'a>>,
}

const RULES: &[(&str, Combine)] = &[
    ("mean", Combine::Mean),
    ("geometric-mean", Combine::GeometricMean),
    ("minimum", Combine::Minimum),
    ("maximum", Combine::Maximum),
    ("product", Combine::Product),
    ("sum", Combine::Sum),
];

impl<'a> CombineRulesModel<'a> {
    /// Table ⇒ rules and pairs.
    pub fn read(node: &'a Node) -> Read<Self> {
        let fields = Fields::of("mixing", node, &["restitution", "friction", "perturbation", "pair"])?;
        let rule = |key: &str| fields.map(key, |node| node.word(key, RULES));
        let pairs = fields.map("pair", |node| {
            node.tables("pair")?.into_iter().map(MixingPair::read).collect::<Read<Vec<_>>>()
        })?;
        Ok(Self {
            restitution: rule("restitution")?,
            friction: rule("friction")?,
            perturbation: rule("perturbation")?,
            pairs: pairs.unwrap_or_default(),
        })
    }
}

impl<'a> MixingPair<'a> {
    fn read(node: &'a Node) -> Read<Self> {
        let fields = Fields::open("a mixing pair", node)?;
        let materials = fields.required("materials", "the names of two materials")?;
        let [a, b] = materials.list_of::<2>("materials", "the names of two materials")?;
        let entries = &node.table("pair")?.entries;
        Ok(Self {
            materials: (Named::read("materials", a)?, Named::read("materials", b)?),
            coefficients: entries
                .iter()
                .filter(|(key, _)| key.name != "materials")
                .map(|(key, node)| (key, node))
                .collect(),
        })
    }
}
