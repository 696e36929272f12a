//! Scenes by program: a Rhai script that says what a scene file would say, with loops and functions.
//!
//! A script calls `set(key, value)` for the keys of the top level, `body(#{…})`, `force(#{…})`, `material(name, #{…})`,
//! `simulator(#{…})`, and `add(list, #{…})` for any other list of tables. What it says becomes the same tree that a TOML file
//! becomes; each part of it stands where the script said it, so that errors point at a line of the script.
//!
//! A script can reach no file, no network and no clock. It ends: operations, depth of calls, sizes of texts, lists and
//! tables, and the size of the scene are limited. `random()` gives the same numbers every time.

use crate::document::{Content, Key, Node, Table};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use rhai::{Array, Dynamic, Engine, EvalAltResult, Map, NativeCallContext, Position};
use std::cell::RefCell;
use std::rc::Rc;

/// Most operations of a script: a few seconds.
const MAX_OPERATIONS: u64 = 30_000_000;
/// Most values in a scene made by a script.
const MAX_VALUES: usize = 2_000_000;
const MAX_CALLS: usize = 48;
const MAX_DEPTH: usize = 48;
const MAX_TEXT: usize = 64 << 10;
const MAX_LIST: usize = 200_000;
const MAX_TABLE: usize = 10_000;
const MAX_VARIABLES: usize = 500;
const MAX_FUNCTIONS: usize = 500;

/// Whether a file of this name is a script.
pub(crate) fn is_script(origin: &str) -> bool {
    origin.to_ascii_lowercase().ends_with(".rhai")
}

/// What a script has said so far.
#[derive(Debug)]
struct Said {
    table: Table,
    values: usize,
    random: Pcg64,
}

type Spoken<T> = Result<T, Box<EvalAltResult>>;

/// Text of a script ⇒ the tree it makes.
pub(crate) fn run(text: &str) -> Read<Table> {
    let random = Pcg64::new(0xcafe_f00d_d15e_a5e5, 0xa02b_dbf7_bb3c_0a7a);
    let said = Rc::new(RefCell::new(Said { table: Table::default(), values: 0, random }));
    let lines: Rc<[usize]> = line_starts(text).into();
    let engine = engine(&said, &lines);
    let fault = |message: String, position: Position| {
        Fault::new(span(&lines, text.len(), position), Problem::Syntax(message))
    };
    let script = engine.compile(text).map_err(|error| fault(error.0.to_string(), error.1))?;
    engine.run_ast(&script).map_err(|error| fault(explain(&error), innermost(&error)))?;
    // The engine holds the other handle.
    drop(engine);
    let table = std::mem::take(&mut said.borrow_mut().table);
    Ok(table)
}

fn engine(said: &Rc<RefCell<Said>>, lines: &Rc<[usize]>) -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_operations(MAX_OPERATIONS)
        .set_max_call_levels(MAX_CALLS)
        .set_max_expr_depths(MAX_DEPTH, MAX_DEPTH)
        .set_max_string_size(MAX_TEXT)
        .set_max_array_size(MAX_LIST)
        .set_max_map_size(MAX_TABLE)
        .set_max_variables(MAX_VARIABLES)
        .set_max_functions(MAX_FUNCTIONS)
        .disable_symbol("eval")
        .on_print(|_| {})
        .on_debug(|_, _, _| {});
    let place = |lines: &Rc<[usize]>, context: &NativeCallContext<'_>| {
        span(lines, usize::MAX, context.call_position())
    };

    let (to, at) = (Rc::clone(said), Rc::clone(lines));
    engine.register_fn("set", move |context: NativeCallContext<'_>, key: &str, value: Dynamic| {
        to.borrow_mut().set(key, &value, place(&at, &context))
    });
    let (to, at) = (Rc::clone(said), Rc::clone(lines));
    engine.register_fn("add", move |context: NativeCallContext<'_>, list: &str, table: Map| {
        to.borrow_mut().add(list, table, place(&at, &context))
    });
    for list in ["body", "force", "joint"] {
        let (to, at) = (Rc::clone(said), Rc::clone(lines));
        engine.register_fn(list, move |context: NativeCallContext<'_>, table: Map| {
            to.borrow_mut().add(list, table, place(&at, &context))
        });
    }
    let (to, at) = (Rc::clone(said), Rc::clone(lines));
    engine.register_fn("simulator", move |context: NativeCallContext<'_>, table: Map| {
        to.borrow_mut().set("simulator", &table.into(), place(&at, &context))
    });
    let (to, at) = (Rc::clone(said), Rc::clone(lines));
    engine.register_fn("material", move |context: NativeCallContext<'_>, name: &str, table: Map| {
        to.borrow_mut().material(name, table, place(&at, &context))
    });
    let to = Rc::clone(said);
    engine.register_fn("random", move || {
        // 53 random bits over 2⁵³.
        (to.borrow_mut().random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    });
    engine
}

impl Said {
    /// A value of a script ⇒ node.
    fn node(&mut self, value: &Dynamic, span: Span, depth: usize) -> Spoken<Node> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(
                format!("the scene has more than {MAX_VALUES} values; use `repeat` or mesh files").into()
            );
        }
        if depth > MAX_DEPTH {
            return Err("tables and lists lie too deep in each other".into());
        }
        let content = if let Ok(flag) = value.as_bool() {
            Content::Bool(flag)
        } else if let Ok(number) = value.as_int() {
            Content::Integer(number)
        } else if let Ok(number) = value.as_float() {
            if !number.is_finite() {
                return Err(format!("numbers must be finite; got {number}").into());
            }
            Content::Real(number)
        } else if let Some(text) = value.read_lock::<rhai::ImmutableString>() {
            Content::Text(text.to_string())
        } else if let Some(list) = value.read_lock::<Array>() {
            let nodes = list.iter().map(|item| self.node(item, span, depth + 1));
            Content::List(nodes.collect::<Spoken<_>>()?)
        } else if let Some(map) = value.read_lock::<Map>() {
            Content::Table(self.table_of(&map, span, depth)?)
        } else {
            return Err(format!("a scene has no use for a value of type {}", value.type_name()).into());
        };
        Ok(Node { span, content })
    }

    fn table_of(&mut self, map: &Map, span: Span, depth: usize) -> Spoken<Table> {
        let mut entries = Vec::with_capacity(map.len());
        for (name, value) in map {
            entries.push((Key { name: name.to_string(), span }, self.node(value, span, depth + 1)?));
        }
        Ok(Table { entries })
    }

    fn set(&mut self, key: &str, value: &Dynamic, span: Span) -> Spoken<()> {
        if self.table.get(key).is_some() {
            return Err(format!("`{key}` has been said already").into());
        }
        let node = self.node(value, span, 0)?;
        self.table.entries.push((Key { name: key.into(), span }, node));
        Ok(())
    }

    fn add(&mut self, list: &str, table: Map, span: Span) -> Spoken<()> {
        let node = self.node(&table.into(), span, 0)?;
        match self.entry(list, Content::List(Vec::new()), span) {
            Content::List(nodes) => {
                nodes.push(node);
                Ok(())
            }
            _ => Err(format!("`{list}` is not a list").into()),
        }
    }

    fn material(&mut self, name: &str, table: Map, span: Span) -> Spoken<()> {
        let node = self.node(&table.into(), span, 0)?;
        match self.entry("materials", Content::Table(Table::default()), span) {
            Content::Table(materials) if materials.get(name).is_none() => {
                materials.entries.push((Key { name: name.into(), span }, node));
                Ok(())
            }
            Content::Table(_) => Err(format!("there is a material called `{name}` already").into()),
            _ => Err("`materials` is not a table".into()),
        }
    }

    /// Contents of a key of the top level, which is made if it is not there.
    fn entry(&mut self, key: &str, empty: Content, span: Span) -> &mut Content {
        let entries = &mut self.table.entries;
        let place = entries.iter().position(|(given, _)| given.name == key).unwrap_or_else(|| {
            entries.push((Key { name: key.into(), span }, Node { span, content: empty }));
            entries.len() - 1
        });
        &mut entries[place].1.content
    }
}

/// Byte at which each line begins.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// Line and column of a script ⇒ byte range, to the end of the line's first word or of nothing.
fn span(lines: &[usize], end: usize, position: Position) -> Span {
    let Some(line) = position.line() else {
        let end = end.min(u32::MAX as usize);
        return Span::from(end..end);
    };
    let start =
        lines.get(line - 1).copied().unwrap_or(0) + position.position().unwrap_or(1).saturating_sub(1);
    Span::from(start..start + 1)
}

/// What went wrong, without the places that are told anyway.
fn explain(error: &EvalAltResult) -> String {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => explain(inner),
        EvalAltResult::ErrorTooManyOperations(_) => {
            format!("the script was stopped after {MAX_OPERATIONS} operations; does it ever end?")
        }
        EvalAltResult::ErrorDataTooLarge(what, _) => format!("the script was stopped: {what} is too large"),
        EvalAltResult::ErrorStackOverflow(_) => {
            format!("the script was stopped: functions call each other more than {MAX_CALLS} deep")
        }
        EvalAltResult::ErrorRuntime(value, _) => value.to_string(),
        other => {
            let text = other.to_string();
            // " (line 3, position 5)" at the end says what the place in front says better.
            text.rsplit_once(" (line ").map_or(text.clone(), |(message, _)| message.to_owned())
        }
    }
}

/// Where it went wrong: in the function that was called, not where it was called.
fn innermost(error: &EvalAltResult) -> Position {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, position) => {
            let inner = innermost(inner);
            if inner.is_none() { *position } else { inner }
        }
        other => other.position(),
    }
}
