//! Library functions of scripts.
//!
//! The standard library of the language without byte buffers, clock, `sleep` and JSON (whose reader has a counter of its own). Functions
//! whose results can be much larger than their arguments are replaced by ones that check the size before they allocate, and charge it.

use super::meter::{Meter, stop};
use super::{MAX_LIST, MAX_TABLE, MAX_TEXT, ScriptResult};
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext};
use std::rc::Rc;

/// Adds the library to an engine that has none.
pub(super) fn register(engine: &mut Engine, meter: &Rc<Meter>) {
    for package in [
        ArithmeticPackage::new().as_shared_module(),
        LogicPackage::new().as_shared_module(),
        BasicMathPackage::new().as_shared_module(),
        BasicStringPackage::new().as_shared_module(),
        MoreStringPackage::new().as_shared_module(),
        BasicIteratorPackage::new().as_shared_module(),
        BasicFnPackage::new().as_shared_module(),
        BasicArrayPackage::new().as_shared_module(),
        BasicMapPackage::new().as_shared_module(),
    ] {
        engine.register_global_module(package);
    }
    lists(engine, meter);
    texts(engine, meter);
}

fn too_large<T>(what: &str) -> ScriptResult<T> {
    stop(format!("the script was stopped: {what} is too large"))
}

/// Adds up what a list or table is going to hold.
struct Growing<'a> {
    meter: &'a Meter,
    elements: usize,
    what: &'static str,
    limit: usize,
}

impl Growing<'_> {
    fn take(&mut self, value: Dynamic) -> ScriptResult<Dynamic> {
        self.elements += self.meter.measure(&value)?.elements;
        if self.elements > self.limit { too_large(self.what) } else { Ok(value) }
    }
}

/// Calls a function with an element, or with that and its place or key if it takes both.
fn call(
    context: &NativeCallContext<'_>,
    function: &FnPtr,
    given: &[Dynamic],
    place: impl Into<Dynamic>,
) -> ScriptResult<Dynamic> {
    match function.call_raw(context, None, given.to_vec()) {
        Err(error) if matches!(*error, EvalAltResult::ErrorFunctionNotFound(..)) => {
            let given: Vec<Dynamic> = given.iter().cloned().chain([place.into()]).collect();
            function.call_raw(context, None, given)
        }
        result => result,
    }
}

fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

fn lists(engine: &mut Engine, meter: &Rc<Meter>) {
    let on = Rc::clone(meter);
    engine.register_fn("pad", move |list: &mut Array, length: i64, item: Dynamic| -> ScriptResult<()> {
        let Ok(length) = usize::try_from(length) else { return Ok(()) };
        let missing = length.saturating_sub(list.len());
        let each = on.measure(&item)?;
        if length > MAX_LIST || missing.saturating_mul(each.elements) > MAX_LIST {
            return too_large("a list");
        }
        on.touch(missing.saturating_mul(each.work))?;
        list.resize(length.max(list.len()), item);
        Ok(())
    });
    let on = Rc::clone(meter);
    engine.register_fn(
        "map",
        move |context: NativeCallContext<'_>, list: &mut Array, function: FnPtr| -> ScriptResult<Array> {
            let mut growing = Growing { meter: &on, elements: 0, what: "a list", limit: MAX_LIST };
            let mapped = list.iter().enumerate().map(|(place, item)| {
                growing.take(call(&context, &function, std::slice::from_ref(item), number(place))?)
            });
            mapped.collect()
        },
    );
    let on = Rc::clone(meter);
    engine.register_fn(
        "zip",
        move |context: NativeCallContext<'_>,
              list: &mut Array,
              other: Array,
              function: FnPtr|
              -> ScriptResult<Array> {
            let mut growing = Growing { meter: &on, elements: 0, what: "a list", limit: MAX_LIST };
            let pairs = list.iter().zip(other).enumerate().map(|(place, (a, b))| {
                growing.take(call(&context, &function, &[a.clone(), b], number(place))?)
            });
            pairs.collect()
        },
    );
    let on = Rc::clone(meter);
    engine.register_fn(
        "map",
        move |context: NativeCallContext<'_>, table: &mut Map, function: FnPtr| -> ScriptResult<Map> {
            let mut growing = Growing { meter: &on, elements: 0, what: "a table", limit: MAX_TABLE };
            let mapped = table.iter().map(|(key, value)| {
                let key_text: ImmutableString = key.as_str().into();
                let made = function.call_raw(&context, None, [key_text.into(), value.clone()])?;
                Ok((key.clone(), growing.take(made)?))
            });
            mapped.collect()
        },
    );
}

/// A text to search for or to insert.
fn piece(value: &Dynamic) -> Option<String> {
    if let Ok(character) = value.as_char() {
        return Some(character.to_string());
    }
    value.read_lock::<ImmutableString>().map(|text| text.to_string())
}

fn texts(engine: &mut Engine, meter: &Rc<Meter>) {
    let on = Rc::clone(meter);
    let pad = move |text: &mut ImmutableString, length: i64, with: &str| -> ScriptResult<()> {
        let Ok(length) = usize::try_from(length) else { return Ok(()) };
        if length > MAX_TEXT {
            return too_large("a text");
        }
        on.touch(length / 4 + 1)?;
        let mut missing = length.saturating_sub(text.chars().count());
        let mut padded = text.to_string();
        while missing > 0 && !with.is_empty() && padded.len() <= MAX_TEXT {
            padded.push_str(with);
            missing = missing.saturating_sub(with.chars().count());
        }
        *text = padded.into();
        Ok(())
    };
    let with_text = pad.clone();
    engine.register_fn("pad", move |text: &mut ImmutableString, length: i64, with: ImmutableString| {
        with_text(text, length, &with)
    });
    engine.register_fn("pad", move |text: &mut ImmutableString, length: i64, with: char| {
        pad(text, length, &with.to_string())
    });
    let on = Rc::clone(meter);
    let replace = move |text: &mut ImmutableString, old: &str, new: &str| -> ScriptResult<()> {
        on.touch(text.len() / 32 + 1)?;
        let found = text.matches(old).count();
        if text.len() + found.saturating_mul(new.len()) > 2 * MAX_TEXT {
            return too_large("a text");
        }
        *text = text.replace(old, new).into();
        Ok(())
    };
    macro_rules! register_replace {
        ($($old:ty, $new:ty);*) => {$(
            let replaced = replace.clone();
            engine.register_fn("replace", move |text: &mut ImmutableString, old: $old, new: $new| {
                let (Some(old), Some(new)) = (piece(&old.into()), piece(&new.into())) else { return Ok(()) };
                replaced(text, &old, &new)
            });
        )*};
    }
    register_replace!(ImmutableString, ImmutableString; ImmutableString, char; char, ImmutableString; char, char);

    let on = Rc::clone(meter);
    engine.register_fn("to_chars", move |text: &str| -> ScriptResult<Array> {
        on.touch(text.len())?;
        Ok(text.chars().map(Dynamic::from).collect())
    });
    let on = Rc::clone(meter);
    let split = move |text: &str, at: &str| -> ScriptResult<Array> {
        // Every part is a text of its own.
        on.touch(4 * text.len())?;
        Ok(text.split(at).map(|part| Dynamic::from(ImmutableString::from(part))).collect())
    };
    let at_text = split.clone();
    engine.register_fn("split", move |text: &mut ImmutableString, at: ImmutableString| at_text(text, &at));
    engine.register_fn("split", move |text: &mut ImmutableString, at: char| split(text, &at.to_string()));
}
