//! The registry: everything that can be made by name.
//!
//! Built-in shapes, forces, integrators and simulators are registered exactly as a plug-in's would be; scene files,
//! snapshots and the command line only use the registry.

use crate::force::{self, Force};
use crate::joint::{self, Joint};
use crate::property::{self, Component, ComponentType, Properties, PropertyError, PropertySpec};
use crate::simulator::{self, BodyIntegrator, Capabilities, Simulator};
use crate::world::{Material, WorldPart, shapes};
use rattleback_geometry::Shape;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why the registry refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RegistryError {
    /// No such type.
    #[error("unknown {kind} `{name}`{}; known: {}", property::suggestion(name, known), known.join(", "))]
    UnknownType {
        /// What was looked for: "force", "shape", …
        kind: &'static str,
        /// The name that is not known.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The name is taken.
    #[error("there is a {kind} called `{name}` already")]
    Duplicate {
        /// "force", "shape", …
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A property was wrong.
    #[error(transparent)]
    Property(#[from] PropertyError),
    /// The component itself refused the values.
    #[error("{kind} `{name}`: {reason}")]
    Invalid {
        /// "force", "shape", …
        kind: &'static str,
        /// Type name.
        name: String,
        /// What was wrong.
        reason: String,
    },
}

type Build<T> = Arc<dyn Fn(&Properties) -> Result<T, String> + Send + Sync>;

/// One type that can be made by name.
pub struct Entry<T> {
    /// Type name in scene files.
    pub name: String,
    /// One line for people.
    pub doc: String,
    /// What can be configured.
    pub properties: Vec<PropertySpec>,
    build: Build<T>,
}

impl<T> Entry<T> {
    /// (name, doc, specs, maker of a thing from complete and checked values) ⇒ entry.
    pub fn new(
        name: &str,
        doc: &str,
        properties: Vec<PropertySpec>,
        build: impl Fn(&Properties) -> Result<T, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), doc: doc.into(), properties, build: Arc::new(build) }
    }

    /// Entry for a component type; `wrap` turns it into what the catalogue holds.
    pub fn of<C: ComponentType>(wrap: impl Fn(C) -> T + Send + Sync + 'static) -> Self {
        let doc = C::DOC.lines().next().unwrap_or_default().trim();
        Self::new(C::TYPE_NAME, doc, C::type_specs().to_vec(), move |given| {
            C::with(given).map(&wrap).map_err(|error| error.to_string())
        })
    }
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            doc: self.doc.clone(),
            properties: self.properties.clone(),
            build: Arc::clone(&self.build),
        }
    }
}

/// All types of one kind.
pub struct Catalogue<T> {
    kind: &'static str,
    entries: BTreeMap<String, Entry<T>>,
}

impl<T> Clone for Catalogue<T> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, entries: self.entries.clone() }
    }
}

impl<T> Catalogue<T> {
    /// An empty catalogue of things called `kind`.
    pub const fn new(kind: &'static str) -> Self {
        Self { kind, entries: BTreeMap::new() }
    }

    /// Adds a type; a name that is taken is refused and nothing changes.
    pub fn register(&mut self, entry: Entry<T>) -> Result<(), RegistryError> {
        if self.entries.contains_key(&entry.name) {
            return Err(RegistryError::Duplicate { kind: self.kind, name: entry.name });
        }
        self.entries.insert(entry.name.clone(), entry);
        Ok(())
    }

    /// Name ⇒ entry.
    pub fn get(&self, name: &str) -> Result<&Entry<T>, RegistryError> {
        self.entries.get(name).ok_or_else(|| RegistryError::UnknownType {
            kind: self.kind,
            name: name.into(),
            known: self.entries.keys().cloned().collect(),
        })
    }

    /// (type name, some values) ⇒ a new thing, or what was wrong with the values.
    pub fn make(&self, name: &str, given: &Properties) -> Result<T, RegistryError> {
        let entry = self.get(name)?;
        let complete = property::complete(name, &entry.properties, given)?;
        (entry.build)(&complete).map_err(|reason| RegistryError::Invalid {
            kind: self.kind,
            name: name.into(),
            reason,
        })
    }

    /// All entries in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Entry<T>> + '_ {
        self.entries.values()
    }

    /// What is catalogued here: "force", "shape", …
    pub const fn kind(&self) -> &'static str {
        self.kind
    }
}

/// Everything that can be made by name.
///
/// ```
/// use rattleback_dynamics::{Registry, property::{Properties, Value}};
/// let registry = Registry::default();
/// let given = Properties::from([("radius".to_string(), Value::Real(0.1))]);
/// assert!(registry.shapes.make("sphere", &given).is_ok());
/// let error = registry.shapes.make("sphera", &given).unwrap_err();
/// assert!(error.to_string().contains("did you mean `sphere`"));
/// ```
#[derive(Clone)]
pub struct Registry {
    /// Collision and mass geometry.
    pub shapes: Catalogue<Shape>,
    /// Surface properties.
    pub materials: Catalogue<Material>,
    /// What pushes bodies.
    pub forces: Catalogue<Box<dyn Force>>,
    /// What holds bodies together.
    pub joints: Catalogue<Box<dyn Joint>>,
    /// What turns forces into motion.
    pub integrators: Catalogue<Box<dyn BodyIntegrator>>,
    /// What moves a world.
    pub simulators: Catalogue<Box<dyn Simulator>>,
    /// Parts that other crates add to a world; none is built in.
    pub parts: Catalogue<Box<dyn WorldPart>>,
}

impl Registry {
    /// A registry without anything in it.
    pub const fn empty() -> Self {
        Self {
            shapes: Catalogue::new("shape"),
            materials: Catalogue::new("material"),
            forces: Catalogue::new("force"),
            joints: Catalogue::new("joint"),
            integrators: Catalogue::new("integrator"),
            simulators: Catalogue::new("simulator"),
            parts: Catalogue::new("part"),
        }
    }

    /// Type name of a simulator ⇒ what it does with its default settings.
    ///
    /// # Errors
    /// No such simulator, or one that needs settings.
    pub fn capabilities(&self, simulator: &str) -> Result<Capabilities, RegistryError> {
        Ok(self.simulators.make(simulator, &Properties::new())?.capabilities())
    }

    /// Lets a plug-in add its types. On error, what it had added before stays out.
    pub fn install(&mut self, plugin: &dyn Plugin) -> Result<(), RegistryError> {
        let mut extended = self.clone();
        plugin.register(&mut extended)?;
        *self = extended;
        Ok(())
    }
}

/// A module that brings types along.
pub trait Plugin {
    /// Name and version, for messages.
    fn name(&self) -> &'static str;
    /// Adds its types.
    fn register(&self, registry: &mut Registry) -> Result<(), RegistryError>;
}

/// Everything built in.
struct BuiltIn;

impl Plugin for BuiltIn {
    fn name(&self) -> &'static str {
        "built-in"
    }

    fn register(&self, registry: &mut Registry) -> Result<(), RegistryError> {
        registry.materials.register(Entry::of::<Material>(|material| material))?;
        shapes::register(&mut registry.shapes)?;
        force::register(&mut registry.forces)?;
        joint::register(&mut registry.joints)?;
        simulator::register_integrators(&mut registry.integrators)?;
        simulator::register_simulators(&mut registry.simulators)
    }
}

impl Default for Registry {
    fn default() -> Self {
        let mut registry = Self::empty();
        if let Err(error) = registry.install(&BuiltIn) {
            unreachable!("two built-in components share a name: {error}");
        }
        registry
    }
}

/// A component as plain data: its type name and its property values.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Description {
    /// Type name in the registry.
    pub type_name: String,
    /// Values by name.
    pub properties: Properties,
}

impl Description {
    /// Component ⇒ what the registry needs to make it again.
    pub fn of(component: &(impl Component + ?Sized)) -> Self {
        Self { type_name: component.type_name().into(), properties: component.properties() }
    }
}
