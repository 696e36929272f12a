//! Classes of defaults.
//!
//! An attribute that an element does not have is that of its class, then of the class that contains it, up to `main`. The class of an element is the
//! one it names, or the `childclass` of the nearest body or frame around it.

use crate::error::Problem;
use crate::robot::xml::{Attribute, Element, Xml};
use crate::source::{Fault, Read};
use glam::DVec3;
use std::collections::HashMap;

/// Deepest nesting of classes.
const MAX_DEPTH: usize = 64;
/// Kinds of actuators; those without defaults of their own have those of `general`.
const ACTUATORS: [&str; 8] =
    ["motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"];

/// A class: its elements by tag, and the class around it.
#[derive(Debug, Default)]
struct Class<'a> {
    elements: HashMap<&'a str, Vec<&'a Element>>,
    parent: Option<usize>,
}

/// All classes; the first is `main`.
#[derive(Debug)]
pub(super) struct Classes<'a> {
    list: Vec<Class<'a>>,
    names: HashMap<&'a str, usize>,
}

impl<'a> Classes<'a> {
    /// All `default` elements of the root.
    pub fn read(xml: &'a Xml, root: &'a Element) -> Read<Self> {
        let mut classes = Self { list: vec![Class::default()], names: HashMap::from([("main", 0)]) };
        for top in xml.children(root, "default") {
            if let Some(name) = top.get("class") {
                classes.names.insert(&name.value, 0);
            }
            let mut waiting = vec![(top, 0, 0)];
            while let Some((element, class, depth)) = waiting.pop() {
                if depth > MAX_DEPTH {
                    let (what, found) = ("nested default classes", depth.to_string());
                    return Err(Fault::new(element.span, Problem::Limit { what, found, limit: MAX_DEPTH }));
                }
                for child in element.children.iter().map(|child| &xml.elements[*child]) {
                    if child.tag != "default" {
                        classes.list[class].elements.entry(&child.tag).or_default().push(child);
                        continue;
                    }
                    let name = child.required("class", "name of the class")?;
                    let index = classes.list.len();
                    classes.list.push(Class { parent: Some(class), ..Class::default() });
                    if classes.names.insert(&name.value, index).is_some() {
                        let problem = Problem::Duplicate { kind: "default class", name: name.value.clone() };
                        return Err(Fault::new(name.span, problem));
                    }
                    waiting.push((child, index, depth + 1));
                }
            }
        }
        Ok(classes)
    }

    /// Class that an attribute names, or the one around.
    pub fn named(&self, given: Option<&Attribute>, around: usize) -> Read<usize> {
        let Some(given) = given else { return Ok(around) };
        self.names.get(given.value.as_str()).copied().ok_or_else(|| {
            let mut known: Vec<String> = self.names.keys().map(|name| (*name).to_owned()).collect();
            known.sort_unstable();
            let (kind, name) = ("default class".into(), given.value.clone());
            Fault::new(given.span, Problem::UnknownName { kind, name, known })
        })
    }

    /// An element with its defaults, inside of elements whose class is `around`.
    pub fn view<'c>(&'c self, element: &'c Element, around: usize) -> Read<View<'c>>
    where
        'a: 'c,
    {
        Ok(View { element, class: self.named(element.get("class"), around)?, classes: self })
    }

    fn default_of(&self, tag: &str, class: usize, name: &str) -> Option<&'a Attribute> {
        let mut next = Some(class);
        while let Some(class) = next {
            let own = self.list[class].elements.get(tag);
            let given = own.and_then(|elements| elements.iter().rev().find_map(|element| element.get(name)));
            if given.is_some() {
                return given;
            }
            next = self.list[class].parent;
        }
        None
    }
}

/// An element with its defaults.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'c> {
    pub element: &'c Element,
    class: usize,
    classes: &'c Classes<'c>,
}

impl<'c> View<'c> {
    /// Name ⇒ attribute, or its default.
    pub fn get(&self, name: &str) -> Option<&'c Attribute> {
        let tag = match self.element.tag.as_str() {
            "freejoint" => return self.element.get(name),
            tag => tag,
        };
        let own = self.element.get(name).or_else(|| self.classes.default_of(tag, self.class, name));
        let general = || self.classes.default_of("general", self.class, name);
        own.or_else(|| if ACTUATORS.contains(&tag) { general() } else { None })
    }

    /// One number, or a default.
    pub fn number(&self, name: &str, default: f64) -> Read<f64> {
        self.get(name).map_or(Ok(default), Attribute::number)
    }

    /// One number of at least 0, or 0.
    pub fn non_negative(&self, name: &str) -> Read<f64> {
        let Some(given) = self.get(name) else { return Ok(0.0) };
        let number = given.number()?;
        if number < 0.0 { Err(given.refuse("at least 0")) } else { Ok(number) }
    }

    /// Three numbers, or zero.
    pub fn vector(&self, name: &str) -> Read<DVec3> {
        self.get(name).map_or(Ok(DVec3::ZERO), Attribute::vector)
    }

    /// Range of an attribute, if the other attribute states or implies that it is a limit.
    pub fn limit(&self, range: &str, limited: &str, autolimits: bool) -> Read<Option<[f64; 2]>> {
        let given = self.get(range);
        let wanted = match self.get(limited) {
            Some(flag) if flag.value != "auto" => flag.flag()?,
            _ => autolimits && given.is_some(),
        };
        match given {
            Some(given) if wanted => given.range().map(Some),
            None if wanted => Err(self.element.missing(range, "a limit needs two numbers")),
            _ => Ok(None),
        }
    }
}
