//! Warnings that are collected by text: each is shown once, at its first place, with the number of the others.

use crate::error::SceneWarning;
use crate::source::{Source, Span};
use std::collections::BTreeSet;

/// One text and its places.
#[derive(Debug)]
struct Notice {
    message: String,
    first: Span,
    /// Byte offsets; a call in a loop of a script is one place.
    places: BTreeSet<u32>,
}

/// Warnings of a scene in the order of their first places of discovery.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    list: Vec<Notice>,
}

impl Notices {
    /// Adds a place of a warning.
    pub fn add(&mut self, span: Span, message: String) {
        match self.list.iter_mut().find(|known| known.message == message) {
            Some(known) => {
                known.places.insert(span.start);
            }
            None => self.list.push(Notice { message, first: span, places: BTreeSet::from([span.start]) }),
        }
    }

    /// One warning for each text.
    pub fn warnings(self, source: &Source) -> impl Iterator<Item = SceneWarning> {
        self.list.into_iter().map(|Notice { message, first, places }| {
            let others = match places.len() {
                1 => String::new(),
                2 => "; there is one more place".into(),
                count => format!("; there are {} more places", count - 1),
            };
            SceneWarning { place: source.place(first), message: format!("{message}{others}") }
        })
    }
}
