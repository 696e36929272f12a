//! Scenes by script: a Rhai program that describes a scene with loops and functions.
//!
//! A script calls `set(key, value)` for the keys of the top level, `body(#{…})`, `force(#{…})`, `material(name, #{…})`,
//! `simulator(#{…})`, and `add(list, #{…})` for any other list of tables. The result is the tree of a TOML
//! file; each part of it has the place of the call that made it, so that errors point at a line of the script.
//!
//! A script has no access to files, network or clock. It ends: operations and the data they access, depth of calls and of nested
//! values, memory, the size of the scene (`meter`) and the time are limited. `random()` gives the same numbers
//! every time. A script runs on a thread of its own, with a stack that suffices for the allowed depth.

mod library;
mod meter;

use crate::document::{Content, Key, Node, Table};
use crate::error::Problem;
use crate::expression::value;
use crate::parameter::ParameterValue;
use crate::source::{Fault, Read, Span};
use meter::{MAX_NESTING, Meter};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use rhai::{
    Array, Dynamic, Engine, EvalAltResult, Map, NativeCallContext, OptimizationLevel, Position, Scope,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Longest script: one that is longer holds tables, which TOML and JSON are for.
const MAX_SCRIPT_BYTES: usize = 1 << 20;
/// Most values in a scene made by a script, and most bytes of texts and keys among them.
const MAX_VALUES: usize = 2_000_000;
const MAX_SCENE_TEXT: usize = 64 << 20;
const MAX_CALLS: usize = 48;
/// Deepest expressions in each other.
const MAX_DEPTH: usize = 48;
/// Most bytes of a text, or of all texts in one value.
const MAX_TEXT: usize = 64 << 10;
/// Most elements of a list, and of all lists in one value.
const MAX_LIST: usize = 100_000;
/// Most keys of a table, and of all tables in one value.
const MAX_TABLE: usize = 10_000;
const MAX_VARIABLES: usize = 500;
const MAX_FUNCTIONS: usize = 500;
/// Stack of the thread that runs a script; only what is used is ever taken from the system.
const STACK: usize = 64 << 20;

/// Whether a file of this name is a script.
pub(crate) fn is_script(origin: &str) -> bool {
    origin.to_ascii_lowercase().ends_with(".rhai")
}

/// The scene that a script has described so far.
#[derive(Debug)]
struct ScriptScene {
    table: Table,
    values: usize,
    materials: usize,
    text: usize,
    random: Pcg64,
    meter: Rc<Meter>,
}

type ScriptResult<T> = Result<T, Box<EvalAltResult>>;

/// Text of a script ⇒ the tree it makes.
pub(crate) fn run(text: &str) -> Read<Table> {
    let fault = |message: String| Fault::new(Span::default(), Problem::Syntax(message));
    if text.len() > MAX_SCRIPT_BYTES {
        let (found, limit) = (text.len().to_string(), MAX_SCRIPT_BYTES);
        return Err(Fault::new(Span::default(), Problem::Limit { what: "bytes in a script", found, limit }));
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("script".into()).stack_size(STACK);
        let running = thread.spawn_scoped(scope, || run_here(text));
        let running = running.map_err(|error| fault(format!("no thread to run the script on: {error}")))?;
        running.join().unwrap_or_else(|_| Err(fault("the interpreter failed on this script".into())))
    })
}

fn run_here(text: &str) -> Read<Table> {
    let random = Pcg64::new(0xcafe_f00d_d15e_a5e5, 0xa02b_dbf7_bb3c_0a7a);
    let meter = Rc::new(Meter::new());
    let on = Rc::clone(&meter);
    let scene = Rc::new(RefCell::new(ScriptScene {
        table: Table::default(),
        values: 0,
        materials: 0,
        text: 0,
        random,
        meter: on,
    }));
    let lines: Rc<[usize]> = line_starts(text).into();
    let engine = engine(&scene, &lines, &meter);
    let fault = |message: String, position: Position| {
        Fault::new(span(&lines, text.len(), position), Problem::Syntax(message))
    };
    let script = engine.compile(text).map_err(|error| fault(error.0.to_string(), error.1))?;
    engine.run_ast(&script).map_err(|error| fault(explain(&error), innermost(&error)))?;
    if let Some(reason) = meter.exhausted() {
        return Err(fault(reason, Position::new(1, 1)));
    }
    // The engine holds the other handle.
    drop(engine);
    let table = std::mem::take(&mut scene.borrow_mut().table);
    Ok(table)
}

/// An interpreter within the limits, without anything of scenes.
fn bare_engine(meter: &Rc<Meter>) -> Engine {
    let mut engine = Engine::new_raw();
    engine
        .set_max_call_levels(MAX_CALLS)
        .set_max_expr_depths(MAX_DEPTH, MAX_DEPTH)
        .set_max_string_size(MAX_TEXT)
        .set_max_array_size(MAX_LIST)
        .set_max_map_size(MAX_TABLE)
        .set_max_variables(MAX_VARIABLES)
        .set_max_functions(MAX_FUNCTIONS)
        // Folded into one constant, a long list would be copied by a single operation.
        .set_optimization_level(OptimizationLevel::None)
        .disable_symbol("eval")
        // Reads of `this` have no hook to count them.
        .disable_symbol("this")
        .on_print(|_| {})
        .on_debug(|_, _, _| {});
    let counts = Rc::clone(meter);
    engine.on_progress(move |_| counts.operation());
    let reads = Rc::clone(meter);
    #[expect(deprecated, reason = "not deprecated, but marked as likely to change")]
    engine.on_var(move |name, offset, context| reads.read(name, offset, &context).map(|()| None));
    library::register(&mut engine, meter);
    engine
}

/// (formula, names of values) ⇒ its value, or what is wrong with it.
pub(crate) fn expression(
    formula: &str,
    names: impl FnOnce() -> Scope<'static> + Send,
) -> Result<ParameterValue, String> {
    if formula.len() > MAX_TEXT {
        return Err(format!("a formula has at most {MAX_TEXT} bytes"));
    }
    let evaluated = || {
        let meter = Rc::new(Meter::new());
        let result: ScriptResult<Dynamic> = bare_engine(&meter).eval_with_scope(&mut names(), formula);
        let result = result.map_err(|error| explain(&error))?;
        meter.exhausted().map_or_else(|| value(&result), Err)
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("formula".into()).stack_size(STACK);
        let running = thread.spawn_scoped(scope, evaluated);
        let running = running.map_err(|error| format!("no thread to evaluate the formula on: {error}"))?;
        running.join().unwrap_or_else(|_| Err("the interpreter failed on this formula".into()))
    })
}

fn engine(scene: &Rc<RefCell<ScriptScene>>, lines: &Rc<[usize]>, meter: &Rc<Meter>) -> Engine {
    let mut engine = bare_engine(meter);
    let place = |lines: &Rc<[usize]>, context: &NativeCallContext<'_>| {
        span(lines, usize::MAX, context.call_position())
    };

    let (to, at) = (Rc::clone(scene), Rc::clone(lines));
    engine.register_fn("set", move |context: NativeCallContext<'_>, key: &str, value: Dynamic| {
        to.borrow_mut().set(key, &value, place(&at, &context))
    });
    let (to, at) = (Rc::clone(scene), Rc::clone(lines));
    engine.register_fn("add", move |context: NativeCallContext<'_>, list: &str, table: Map| {
        to.borrow_mut().add(list, table, place(&at, &context))
    });
    for list in ["body", "force", "joint", "multibody"] {
        let (to, at) = (Rc::clone(scene), Rc::clone(lines));
        engine.register_fn(list, move |context: NativeCallContext<'_>, table: Map| {
            to.borrow_mut().add(list, table, place(&at, &context))
        });
    }
    let (to, at) = (Rc::clone(scene), Rc::clone(lines));
    engine.register_fn("simulator", move |context: NativeCallContext<'_>, table: Map| {
        to.borrow_mut().set("simulator", &table.into(), place(&at, &context))
    });
    let (to, at) = (Rc::clone(scene), Rc::clone(lines));
    engine.register_fn("material", move |context: NativeCallContext<'_>, name: &str, table: Map| {
        to.borrow_mut().material(name, table, place(&at, &context))
    });
    let to = Rc::clone(scene);
    engine.register_fn("random", move || {
        // 53 random bits over 2⁵³.
        (to.borrow_mut().random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    });
    engine
}

impl ScriptScene {
    /// A value of a script ⇒ node.
    fn node(&mut self, value: &Dynamic, span: Span, depth: usize) -> ScriptResult<Node> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(
                format!("the scene has more than {MAX_VALUES} values; use `repeat` or mesh files").into()
            );
        }
        if depth > MAX_NESTING {
            return Err("tables and lists are nested too deep".into());
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
            self.keep_text(&text)?;
            Content::Text(text.to_string())
        } else if let Some(list) = value.read_lock::<Array>() {
            let nodes = list.iter().map(|item| self.node(item, span, depth + 1));
            Content::List(nodes.collect::<ScriptResult<_>>()?)
        } else if let Some(map) = value.read_lock::<Map>() {
            Content::Table(self.table_of(&map, span, depth)?)
        } else {
            return Err(format!("a scene has no values of type {}", value.type_name()).into());
        };
        Ok(Node { span, content })
    }

    /// Counts a text or key that goes into the scene.
    fn keep_text(&mut self, text: &str) -> ScriptResult<()> {
        self.text += text.len();
        if self.text <= MAX_SCENE_TEXT {
            return Ok(());
        }
        Err(format!("the texts of the scene have more than {} MiB", MAX_SCENE_TEXT >> 20).into())
    }

    fn table_of(&mut self, map: &Map, span: Span, depth: usize) -> ScriptResult<Table> {
        let mut entries = Vec::with_capacity(map.len());
        for (name, value) in map {
            self.keep_text(name)?;
            entries.push((Key { name: name.to_string(), span }, self.node(value, span, depth + 1)?));
        }
        Ok(Table { entries })
    }

    fn set(&mut self, key: &str, value: &Dynamic, span: Span) -> ScriptResult<()> {
        self.keep_text(key)?;
        self.meter.touch(self.table.entries.len())?;
        if self.table.get(key).is_some() {
            return Err(format!("`{key}` is set already").into());
        }
        let node = self.node(value, span, 0)?;
        self.table.entries.push((Key { name: key.into(), span }, node));
        Ok(())
    }

    fn add(&mut self, list: &str, table: Map, span: Span) -> ScriptResult<()> {
        self.meter.touch(self.table.entries.len())?;
        let node = self.node(&table.into(), span, 0)?;
        match self.entry(list, Content::List(Vec::new()), span) {
            Content::List(nodes) => {
                nodes.push(node);
                Ok(())
            }
            _ => Err(format!("`{list}` is not a list").into()),
        }
    }

    fn material(&mut self, name: &str, table: Map, span: Span) -> ScriptResult<()> {
        self.keep_text(name)?;
        self.materials += 1;
        self.meter.touch(self.materials)?;
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

/// Message of an error, without its place.
fn explain(error: &EvalAltResult) -> String {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => explain(inner),
        EvalAltResult::ErrorTerminated(reason, _) => reason.to_string(),
        EvalAltResult::ErrorDataTooLarge(what, _) => format!("the script was stopped: {what} is too large"),
        EvalAltResult::ErrorStackOverflow(_) => {
            format!("the script was stopped: functions call each other more than {MAX_CALLS} deep")
        }
        EvalAltResult::ErrorRuntime(value, _) => value.to_string(),
        other => {
            let text = other.to_string();
            // Without " (line 3, position 5)" at the end: the place is shown separately.
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
