//! Generational handles: an id outlives its object without ever meaning another one.
//!
//! A handle is (slot, generation). Removing an object raises the generation of its slot, so that an old handle is
//! recognised as stale. Free slots are reused last-in first-out, and that order is part of a snapshot: a restored
//! world hands out the same ids as the uninterrupted one would have.

use serde::{Deserialize, Serialize};

/// A handle kind: a typed (slot, generation) pair.
pub trait Handle: Copy + Eq + Ord + std::hash::Hash + std::fmt::Debug {
    /// (slot, generation) ⇒ handle.
    fn from_parts(slot: u32, generation: u32) -> Self;
    /// The place in its table; unique among living objects.
    fn slot(self) -> u32;
    /// How often the slot had been given away before.
    fn generation(self) -> u32;
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name { slot: u32, generation: u32 }

        impl Handle for $name {
            fn from_parts(slot: u32, generation: u32) -> Self { Self { slot, generation } }
            fn slot(self) -> u32 { self.slot }
            fn generation(self) -> u32 { self.generation }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({}v{})"), self.slot, self.generation)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($kind, " {}v{}"), self.slot, self.generation)
            }
        }
    };
}

handle! {
    /// Names a body.
    BodyId, "body"
}
handle! {
    /// Names a shape attached to a body.
    ShapeId, "shape"
}
handle! {
    /// Names a material.
    MaterialId, "material"
}
handle! {
    /// Names a force.
    ForceId, "force"
}
handle! {
    /// Names a joint.
    JointId, "joint"
}

handle! {
    /// Names a multibody.
    MultibodyId, "multibody"
}

handle! {
    /// Names a part that another crate has added.
    PartId, "part"
}

/// Objects of one kind in stable slots, found by handle in constant time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HandleMap<K, T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    #[serde(skip)]
    kind: std::marker::PhantomData<fn() -> K>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<K: Handle, T> HandleMap<K, T> {
    /// An empty map.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), kind: std::marker::PhantomData }
    }

    /// The handle that the next [`insert`](Self::insert) will return.
    pub fn next_handle(&self) -> K {
        match self.free.last() {
            Some(&slot) => K::from_parts(slot, self.slots[slot as usize].generation),
            None => K::from_parts(self.slots.len() as u32, 0),
        }
    }

    /// Object ⇒ its new handle.
    pub fn insert(&mut self, value: T) -> K {
        let handle = self.next_handle();
        if self.free.pop().is_some() {
            self.slots[handle.slot() as usize].value = Some(value);
        } else {
            self.slots.push(Slot { generation: 0, value: Some(value) });
        }
        handle
    }

    /// Takes the object out; its handle is stale from now on.
    pub fn remove(&mut self, handle: K) -> Option<T> {
        let slot = self.slots.get_mut(handle.slot() as usize)?;
        if slot.generation != handle.generation() {
            return None;
        }
        let value = slot.value.take()?;
        // A slot whose generations are used up is never given away again.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.free.push(handle.slot());
        }
        Some(value)
    }

    /// Handle ⇒ object, or nothing if the handle is stale.
    pub fn get(&self, handle: K) -> Option<&T> {
        let slot = self.slots.get(handle.slot() as usize)?;
        if slot.generation == handle.generation() { slot.value.as_ref() } else { None }
    }

    /// Handle ⇒ object to change, or nothing if the handle is stale.
    pub fn get_mut(&mut self, handle: K) -> Option<&mut T> {
        let slot = self.slots.get_mut(handle.slot() as usize)?;
        if slot.generation == handle.generation() { slot.value.as_mut() } else { None }
    }

    /// Living objects in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> + '_ {
        self.slots.iter().enumerate().filter_map(|(i, slot)| {
            slot.value.as_ref().map(|value| (K::from_parts(i as u32, slot.generation), value))
        })
    }

    /// Living objects in slot order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut T)> + '_ {
        self.slots.iter_mut().enumerate().filter_map(|(i, slot)| {
            let generation = slot.generation;
            slot.value.as_mut().map(|value| (K::from_parts(i as u32, generation), value))
        })
    }

    /// Number of living objects.
    pub fn len(&self) -> usize {
        self.slots.len() - self.slots.iter().filter(|slot| slot.value.is_none()).count()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.value.is_none())
    }

    /// The same handles for other objects.
    pub fn map<U>(&self, mut convert: impl FnMut(&T) -> U) -> HandleMap<K, U> {
        let Ok(mapped) = self.try_map(|value| Ok::<U, std::convert::Infallible>(convert(value)));
        mapped
    }

    /// The same handles for other objects, unless one of them cannot be had.
    pub fn try_map<U, E>(&self, mut convert: impl FnMut(&T) -> Result<U, E>) -> Result<HandleMap<K, U>, E> {
        let mut slots = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let value = slot.value.as_ref().map(&mut convert).transpose()?;
            slots.push(Slot { generation: slot.generation, value });
        }
        Ok(HandleMap { slots, free: self.free.clone(), kind: std::marker::PhantomData })
    }

    /// Whether the free list names exactly the reusable empty slots: what a snapshot from outside must satisfy.
    pub fn is_consistent(&self) -> bool {
        let mut listed = vec![false; self.slots.len()];
        for &slot in &self.free {
            match listed.get_mut(slot as usize) {
                Some(seen) if !*seen && self.slots[slot as usize].value.is_none() => *seen = true,
                _ => return false,
            }
        }
        true
    }
}

impl<K: Handle, T> Default for HandleMap<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_handle_never_finds_the_next_tenant() {
        let mut map: HandleMap<BodyId, char> = HandleMap::new();
        let a = map.insert('a');
        assert_eq!(map.remove(a), Some('a'));
        let b = map.insert('b');
        assert_eq!(a.slot(), b.slot());
        assert_eq!(map.get(a), None);
        assert_eq!(map.get(b), Some(&'b'));
        assert_eq!(map.remove(a), None);
        assert_eq!(map.len(), 1);
    }

    #[test]
    fn the_next_handle_is_announced_truthfully() {
        let mut map: HandleMap<BodyId, u8> = HandleMap::new();
        for step in 0..20_u8 {
            let promised = map.next_handle();
            assert_eq!(map.insert(step), promised);
            if step % 3 == 0 {
                map.remove(promised);
            }
        }
        assert!(map.is_consistent());
    }
}
