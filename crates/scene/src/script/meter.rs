//! Limits of a script: work, depth, memory, time.
//!
//! The interpreter counts operations, but the cost of an operation depends on its data: reading a variable copies it, and a call
//! traverses its arguments. All data of a script is in variables, and a value is read before it can grow, so every read of a variable
//! is measured here: its elements are charged as work, its nesting is bounded (copying, comparing and dropping a value recurse), and
//! the bytes of all variables of all functions that are running are added up. Results of library functions that can be much
//! larger than their arguments are charged in `library`. A time limit covers what is not counted.

use rhai::{Array, Dynamic, EvalAltResult, EvalContext, FnPtr, ImmutableString, Map, Position};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Most operations of the interpreter: a few seconds.
const MAX_OPERATIONS: u64 = 30_000_000;
/// Most elements of lists and tables, and pieces of text, that all operations together may touch. An element has sixteen
/// bytes, so this bounds what is ever copied, and with it what expressions hold that are not in a variable yet.
const MAX_TOUCHED: u64 = 100_000_000;
/// Most bytes in all variables.
const MAX_BYTES: usize = 128 << 20;
/// Deepest nesting of lists, tables and functions that carry values.
pub(super) const MAX_NESTING: usize = 48;
/// Longest run, whatever has been counted.
const MAX_TIME: Duration = Duration::from_secs(20);
/// Bytes of text that count as one element.
const PIECE: usize = 32;
/// Operations between two checks of the time.
const CLOCK_EVERY: u64 = 256;

/// What a list or table and a key cost to copy, in elements: each is a piece of memory of its own.
const RECORD_WORK: usize = 4;
const KEY_WORK: usize = 2;
/// Memory of a list's or table's own record, of a function that carries values, of one element and of one key, about.
const RECORD: usize = 48;
const FUNCTION: usize = 256;
const ELEMENT: usize = 16;
const KEY: usize = 48;

/// Why a script was stopped; no `catch` of the script sees it.
pub(super) fn stop<T>(reason: impl Into<ImmutableString>) -> Result<T, Box<EvalAltResult>> {
    Err(EvalAltResult::ErrorTerminated(Dynamic::from(reason.into()), Position::NONE).into())
}

/// Size of a value, of all that is in it, and what it costs to copy, in elements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub elements: usize,
    pub bytes: usize,
    pub work: usize,
}

impl Extent {
    /// Of a value and all that is in it; nothing if that lies too deep.
    pub fn of(value: &Dynamic) -> Option<Self> {
        let mut extent = Self::default();
        extent.add(value, 0).then_some(extent)
    }

    fn add(&mut self, value: &Dynamic, depth: usize) -> bool {
        self.elements += 1;
        self.work += 1;
        self.bytes += ELEMENT;
        if value.is_shared() {
            // Locked while a call is changing it; then it is measured when that call reads it.
            return depth < MAX_NESTING
                && value.read_lock::<Dynamic>().is_none_or(|value| self.add(&value, depth + 1));
        }
        if value.is_array() {
            let list = value.read_lock::<Array>();
            return list.is_none_or(|list| self.add_all(list.iter(), 0, depth));
        }
        if value.is_map() {
            let map = value.read_lock::<Map>();
            return map.is_none_or(|map| self.add_all(map.values(), KEY, depth));
        }
        if value.is_fnptr() {
            self.bytes += FUNCTION;
            let function = value.read_lock::<FnPtr>();
            return function.is_none_or(|function| self.add_all(function.iter_curry(), 0, depth));
        }
        if value.is_string() {
            let length = value.read_lock::<ImmutableString>().map_or(0, |text| text.len());
            self.work += length / PIECE;
            self.bytes += length;
        }
        true
    }

    fn add_all<'a>(&mut self, values: impl Iterator<Item = &'a Dynamic>, key: usize, depth: usize) -> bool {
        self.bytes += RECORD;
        self.work += RECORD_WORK;
        for value in values {
            if key > 0 {
                self.bytes += key;
                self.work += KEY_WORK;
            }
            if depth >= MAX_NESTING || !self.add(value, depth + 1) {
                return false;
            }
        }
        true
    }
}

/// Bytes of the variables of a function that is running, in the order of their definition.
#[derive(Debug, Default)]
struct Frame {
    variables: Vec<usize>,
    bytes: usize,
}

impl Frame {
    fn truncate(&mut self, count: usize) {
        while self.variables.len() > count {
            self.bytes -= self.variables.pop().unwrap_or(0);
        }
    }

    /// Variable, counted from the first ⇒ its bytes are these from now on.
    fn set(&mut self, variable: usize, bytes: usize) {
        if variable >= self.variables.len() {
            self.variables.resize(variable + 1, 0);
        }
        self.bytes = self.bytes - self.variables[variable] + bytes;
        self.variables[variable] = bytes;
    }
}

/// Cost of a script so far.
#[derive(Debug)]
pub(super) struct Meter {
    began: Instant,
    operations: Cell<u64>,
    touched: Cell<u64>,
    frames: RefCell<Vec<Frame>>,
}

impl Meter {
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            operations: Cell::new(0),
            touched: Cell::new(0),
            frames: RefCell::default(),
        }
    }

    /// Counts an operation ⇒ why the script is stopped, if it is.
    pub fn operation(&self) -> Option<Dynamic> {
        let count = self.operations.get() + 1;
        self.operations.set(count);
        let exhausted = count > MAX_OPERATIONS || count.is_multiple_of(CLOCK_EVERY) && self.is_late();
        if exhausted { self.exhausted().map(Dynamic::from) } else { None }
    }

    fn is_late(&self) -> bool {
        self.began.elapsed() > MAX_TIME
    }

    /// The limit that was exceeded. Library functions may discard the error that stopped a callback, so this is checked again at the end
    /// of a script.
    pub fn exhausted(&self) -> Option<String> {
        if self.operations.get() > MAX_OPERATIONS {
            return Some(format!(
                "the script was stopped after {MAX_OPERATIONS} operations; does it ever end?"
            ));
        }
        if self.touched.get() > MAX_TOUCHED {
            return Some(format!(
                "the script was stopped after its operations touched {MAX_TOUCHED} elements; a variable is copied \
                 wherever it is read, so keep lists and tables small"
            ));
        }
        self.is_late().then(|| {
            let seconds = MAX_TIME.as_secs();
            format!("the script was stopped after {seconds} s; make smaller lists, or fewer")
        })
    }

    /// Charges a number of elements.
    pub fn touch(&self, elements: usize) -> Result<(), Box<EvalAltResult>> {
        let touched = self.touched.get().saturating_add(elements as u64);
        self.touched.set(touched);
        if touched <= MAX_TOUCHED { Ok(()) } else { stop(self.exhausted().unwrap_or_default()) }
    }

    /// Charges a value ⇒ its extent.
    pub fn measure(&self, value: &Dynamic) -> Result<Extent, Box<EvalAltResult>> {
        let Some(extent) = Extent::of(value) else {
            return stop(format!(
                "the script was stopped: lists and tables lie more than {MAX_NESTING} deep in each other"
            ));
        };
        self.touch(extent.work)?;
        Ok(extent)
    }

    /// Charges a variable that is about to be read, and all that were defined since the last one was.
    ///
    /// `offset` counts from the newest variable, which is 1; 0 means that only the name is given.
    pub fn read(
        &self,
        name: &str,
        offset: usize,
        context: &EvalContext<'_, '_, '_, '_, '_, '_>,
    ) -> Result<(), Box<EvalAltResult>> {
        let (scope, level) = (context.scope(), context.call_level());
        let mut frames = self.frames.borrow_mut();
        frames.resize_with(level + 1, Frame::default);
        let frame = &mut frames[level];
        let count = scope.len();
        frame.truncate(count);
        let unknown = count - frame.variables.len();
        for (place, (_, _, value)) in scope.iter_raw().take(unknown).enumerate() {
            frame.set(count - 1 - place, self.measure(value)?.bytes);
        }
        let place = match offset {
            0 => scope.iter_raw().position(|(known, _, _)| known == name),
            offset => Some(offset - 1),
        };
        if let Some(place) = place.filter(|place| *place >= unknown)
            && let Some((_, _, value)) = scope.iter_raw().nth(place)
        {
            frame.set(count - 1 - place, self.measure(value)?.bytes);
        }
        let bytes: usize = frames.iter().map(|frame| frame.bytes).sum();
        if bytes <= MAX_BYTES {
            return Ok(());
        }
        stop(format!("the script was stopped: its variables hold more than {} MiB", MAX_BYTES >> 20))
    }
}
