//! Trees from links and joints given in any order, as files of robots list them.
//!
//! Every link has one joint towards its parent. Numbering is depth first, children in the order of their joints: a parent comes before
//! its children, and a subtree is a contiguous range.

use super::tree::{Link, LinkTree, TreeError};
use std::collections::HashMap;

/// Links and the names of their parents, in any order.
#[derive(Clone, Debug, Default)]
pub struct TreeBuilder {
    links: Vec<Link>,
    parents: Vec<Vec<String>>,
    index: HashMap<String, usize>,
    twice: Option<String>,
}

impl TreeBuilder {
    /// Without links.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a link that hangs on the world unless [`connect`](Self::connect) gives it a parent; its field `parent` is not read.
    pub fn link(&mut self, link: Link) -> &mut Self {
        if self.index.insert(link.name.clone(), self.links.len()).is_some() {
            self.twice.get_or_insert_with(|| link.name.clone());
        }
        self.links.push(link);
        self.parents.push(Vec::new());
        self
    }

    /// (parent, child): the child's joint connects it to this parent.
    ///
    /// # Errors
    /// [`TreeError::UnknownLink`] for a child that was not added.
    pub fn connect(&mut self, parent: &str, child: &str) -> Result<&mut Self, TreeError> {
        let place = self.find(child, child)?;
        self.parents[place].push(parent.to_owned());
        Ok(self)
    }

    fn find(&self, name: &str, of: &str) -> Result<usize, TreeError> {
        self.index
            .get(name)
            .copied()
            .ok_or_else(|| TreeError::UnknownLink { link: of.to_owned(), name: name.to_owned() })
    }

    /// The tree, numbered depth first.
    ///
    /// # Errors
    /// A name given twice, an unknown parent, a link with two parents, a cycle (all its links named), or what [`LinkTree::new`] refuses.
    pub fn build(self) -> Result<LinkTree, TreeError> {
        if let Some(link) = self.twice {
            return Err(TreeError::DuplicateName { link });
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.links.len()];
        let mut parent: Vec<Option<usize>> = vec![None; self.links.len()];
        for (place, names) in self.parents.iter().enumerate() {
            let link = &self.links[place].name;
            match names.as_slice() {
                [] => {}
                [name] => {
                    let above = self.find(name, link)?;
                    parent[place] = Some(above);
                    children[above].push(place);
                }
                [first, second, ..] => {
                    return Err(TreeError::TwoParents {
                        link: link.clone(),
                        parents: [first.clone(), second.clone()],
                    });
                }
            }
        }
        // Depth first with a stack of its own: a chain may be as long as memory allows.
        let mut number: Vec<Option<usize>> = vec![None; self.links.len()];
        let mut order = Vec::with_capacity(self.links.len());
        let mut waiting: Vec<usize> =
            (0..self.links.len()).rev().filter(|place| parent[*place].is_none()).collect();
        while let Some(place) = waiting.pop() {
            number[place] = Some(order.len());
            order.push(place);
            waiting.extend(children[place].iter().rev());
        }
        if let Some(lost) = (0..self.links.len()).find(|place| number[*place].is_none()) {
            return Err(TreeError::Cycle { links: self.cycle(lost, &parent) });
        }
        let mut links: Vec<Option<Link>> = self.links.into_iter().map(Some).collect();
        let mut ordered = Vec::with_capacity(order.len());
        for place in order {
            if let Some(mut link) = links[place].take() {
                link.parent = parent[place].and_then(|above| number[above]);
                ordered.push(link);
            }
        }
        LinkTree::new(ordered)
    }

    /// Names along the cycle that is reached from a link towards its parents.
    fn cycle(&self, start: usize, parent: &[Option<usize>]) -> Vec<String> {
        let mut seen = vec![false; parent.len()];
        let mut place = start;
        while let Some(above) = parent[place].filter(|_| !seen[place]) {
            seen[place] = true;
            place = above;
        }
        let (first, mut names) = (place, Vec::new());
        loop {
            names.push(self.links[place].name.clone());
            match parent[place] {
                Some(above) if above != first => place = above,
                _ => return names,
            }
        }
    }
}
