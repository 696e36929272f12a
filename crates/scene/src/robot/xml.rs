//! XML as a list of elements: every element and every attribute has its place in the text.
//!
//! Both formats are read with `roxmltree` and not with `urdf-rs`: the latter gives no place for an error of meaning (a value out of range, an
//! unknown link), and MJCF needs a general reader in any case. `roxmltree` parses without recursion and refuses document type definitions, so
//! neither deep files nor entities are a danger; the elements here are numbered, so nothing recurses either.

use crate::error::Problem;
use crate::source::{Fault, Read, Source, Span};
use glam::{DQuat, DVec3};

/// Longest text of a robot, included files counted, bytes.
pub(crate) const MAX_ROBOT_BYTES: u64 = 64 << 20;
/// Largest magnitude of a number, in any unit: beyond it products overflow.
const LARGEST: f64 = 1e30;
/// Most warnings that are kept.
const MAX_WARNINGS: usize = 200;

/// An attribute.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub name: String,
    pub value: String,
    pub span: Span,
}

/// An element; its children are indices.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub tag: String,
    pub attributes: Vec<Attribute>,
    pub children: Vec<usize>,
    pub span: Span,
}

impl Element {
    /// Name ⇒ attribute.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// An attribute that must be there.
    pub fn required(&self, name: &str, doc: &str) -> Read<&Attribute> {
        self.get(name).ok_or_else(|| self.missing(name, doc))
    }

    /// The error for something that is not there.
    pub fn missing(&self, name: &str, doc: &str) -> Fault {
        let table = format!("<{}>", self.tag);
        Fault::new(self.span, Problem::MissingKey { table, key: name.into(), doc: doc.into() })
    }

    /// Contradictory content.
    pub fn conflict(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.span, Problem::Conflict(message.into()))
    }

    /// Three numbers, if they are given.
    pub fn vector(&self, name: &str) -> Read<Option<DVec3>> {
        self.get(name).map(Attribute::vector).transpose()
    }

    /// One number, if it is given.
    pub fn number(&self, name: &str) -> Read<Option<f64>> {
        self.get(name).map(Attribute::number).transpose()
    }
}

impl Attribute {
    /// The error for a value that is not allowed.
    pub fn refuse(&self, allowed: &str) -> Fault {
        let mut value: String = self.value.chars().take(60).collect();
        if value.len() < self.value.len() {
            value.push('…');
        }
        Fault::new(self.span, Problem::Range { key: self.name.clone(), allowed: allowed.into(), value })
    }

    /// Numbers, at most `limit` of them, infinite ones only where they are allowed.
    fn parse(&self, limit: usize, infinite: bool) -> Read<Vec<f64>> {
        let mut numbers = Vec::new();
        for word in self.value.split_ascii_whitespace() {
            let number: f64 = word.parse().map_err(|_| self.refuse("numbers with blanks between them"))?;
            let fits = number.abs() <= LARGEST || (infinite && !number.is_nan());
            if !fits {
                return Err(self.refuse("finite, of a magnitude of at most 1e30"));
            }
            if numbers.len() == limit {
                return Err(self.refuse(&format!("at most {limit} number(s)")));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// At least one number and at most `limit`.
    pub fn numbers(&self, limit: usize) -> Read<Vec<f64>> {
        let numbers = self.parse(limit, false)?;
        if numbers.is_empty() { Err(self.refuse("at least one number")) } else { Ok(numbers) }
    }

    /// One number.
    pub fn number(&self) -> Read<f64> {
        self.array::<1>().map(|[x]| x)
    }

    /// One number that may be infinite: a limit.
    pub fn limit(&self) -> Read<f64> {
        match self.parse(1, true)?[..] {
            [x] => Ok(x),
            _ => Err(self.refuse("a number")),
        }
    }

    /// Two limits, the lower first.
    pub fn range(&self) -> Read<[f64; 2]> {
        match self.parse(2, true)?[..] {
            [low, high] if low <= high => Ok([low, high]),
            _ => Err(self.refuse("two numbers, the lower first")),
        }
    }

    /// So many numbers.
    pub fn array<const N: usize>(&self) -> Read<[f64; N]> {
        self.parse(N, false)?.try_into().map_err(|_| self.refuse(&format!("{N} number(s)")))
    }

    /// Three numbers.
    pub fn vector(&self) -> Read<DVec3> {
        self.array().map(DVec3::from_array)
    }

    /// A direction: three numbers that are not all zero ⇒ unit vector.
    pub fn direction(&self) -> Read<DVec3> {
        let v = self.vector()?;
        // Divided by the largest component first: squares of small numbers underflow.
        let scaled = v / v.abs().max_element();
        scaled.try_normalize().ok_or_else(|| self.refuse("a direction, not zero"))
    }

    /// Quaternion w, x, y, z ⇒ unit quaternion.
    pub fn quaternion(&self) -> Read<DQuat> {
        let [w, x, y, z] = self.array()?;
        let q = DQuat::from_xyzw(x, y, z, w);
        let size = q.length();
        if size > 1e-14 { Ok(q * (1.0 / size)) } else { Err(self.refuse("a quaternion that is not zero")) }
    }

    /// `true` or `false`.
    pub fn flag(&self) -> Read<bool> {
        match self.value.trim() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.refuse("true or false")),
        }
    }
}

/// Elements of a file and of those that it includes; the root is the first.
#[derive(Debug)]
pub(super) struct Xml {
    pub elements: Vec<Element>,
}

impl Xml {
    /// Text, and where its bytes begin among those of all files ⇒ elements.
    pub fn parse(text: &str, start: usize) -> Read<Self> {
        let mut xml = Self { elements: Vec::new() };
        xml.append(text, start)?;
        Ok(xml)
    }

    /// Adds the elements of another text ⇒ index of its root.
    pub fn append(&mut self, text: &str, start: usize) -> Read<usize> {
        let document = roxmltree::Document::parse(text).map_err(|error| {
            let at = offset_of(text, error.pos());
            let message = error.to_string();
            // The place is shown by the caller.
            let message =
                message.rsplit_once(" at ").map_or(message.as_str(), |(before, _)| before).to_owned();
            Fault::new(Span::from(at..at).shifted(start), Problem::Syntax(message))
        })?;
        let first = self.elements.len();
        let root = document.root_element();
        // (node, index of its parent)
        let mut waiting: Vec<(roxmltree::Node<'_, '_>, Option<usize>)> = vec![(root, None)];
        while let Some((node, parent)) = waiting.pop() {
            let index = self.elements.len();
            let attribute = |given: roxmltree::Attribute<'_, '_>| Attribute {
                name: given.name().to_owned(),
                value: given.value().to_owned(),
                span: Span::from(given.range_value()).shifted(start),
            };
            let begin = node.range().start;
            let end = begin + 1 + node.tag_name().name().len();
            self.elements.push(Element {
                tag: node.tag_name().name().to_owned(),
                attributes: node.attributes().map(attribute).collect(),
                children: Vec::new(),
                span: Span::from(begin..end).shifted(start),
            });
            if let Some(parent) = parent {
                self.elements[parent].children.push(index);
            }
            // From last to first, so that they are numbered from first to last.
            waiting.extend(
                node.children().rev().filter(roxmltree::Node::is_element).map(|child| (child, Some(index))),
            );
        }
        Ok(first)
    }

    /// Children of an element with this tag.
    pub fn children<'a>(&'a self, of: &'a Element, tag: &'a str) -> impl Iterator<Item = &'a Element> + 'a {
        of.children.iter().map(|child| &self.elements[*child]).filter(move |child| child.tag == tag)
    }

    /// First child of an element with this tag.
    pub fn child<'a>(&'a self, of: &'a Element, tag: &'a str) -> Option<&'a Element> {
        self.children(of, tag).next()
    }
}

/// Line and column ⇒ byte.
fn offset_of(text: &str, at: roxmltree::TextPos) -> usize {
    let line = text.split_inclusive('\n').take(at.row as usize - usize::from(at.row > 0));
    let start = line.map(str::len).sum::<usize>();
    let start = start.min(text.len());
    let rest = &text[start..];
    start + rest.char_indices().nth(at.col.saturating_sub(1) as usize).map_or(rest.len(), |(byte, _)| byte)
}

/// What was left out of a file, each with its place.
#[derive(Debug, Default)]
pub(super) struct Notes {
    list: Vec<(Span, String)>,
    more: usize,
}

impl Notes {
    /// Adds a warning.
    pub fn add(&mut self, span: Span, message: impl Into<String>) {
        if self.list.len() < MAX_WARNINGS {
            self.list.push((span, message.into()));
        } else {
            self.more += 1;
        }
    }

    /// Adds a warning unless there is one with this text.
    pub fn once(&mut self, span: Span, message: &str) {
        if self.list.iter().all(|(_, known)| known != message) {
            self.add(span, message);
        }
    }

    /// With lines and columns, in the order of the text.
    pub fn finish(mut self, source: &Source) -> Vec<crate::SceneWarning> {
        self.list.sort_by_key(|(span, _)| span.start);
        if self.more > 0 {
            let span = self.list.last().map(|(span, _)| *span).unwrap_or_default();
            self.list.push((span, format!("{} more warnings are not shown", self.more)));
        }
        let warning = |(span, message)| crate::SceneWarning { place: source.place(span), message };
        self.list.into_iter().map(warning).collect()
    }
}
