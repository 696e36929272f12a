//! Values by formula, such as `aim - 0.12 * cos(angle)`, in the language of scene scripts.
//!
//! The limits of scripts apply: an expression ends, and reads neither files nor clock.

use crate::ParameterValue;
use crate::script;
use rhai::{Dynamic, Scope};

/// (formula, values of names) ⇒ its value.
///
/// ```
/// use rattleback_scene::{ParameterValue, evaluate};
/// let v = evaluate("if kind == \"fast\" { 2.0 * v } else { v }", &[
///     ("kind".into(), ParameterValue::Text("fast".into())),
///     ("v".into(), ParameterValue::Real(1.5)),
/// ]);
/// assert_eq!(v, Ok(ParameterValue::Real(3.0)));
/// assert!(evaluate("1 +", &[]).is_err());
/// ```
///
/// # Errors
/// What is wrong with the formula.
pub fn evaluate(formula: &str, names: &[(String, ParameterValue)]) -> Result<ParameterValue, String> {
    script::expression(formula, || {
        let mut scope = Scope::new();
        for (name, value) in names {
            scope.push_constant_dynamic(name.clone(), dynamic(value));
        }
        scope
    })
}

fn dynamic(value: &ParameterValue) -> Dynamic {
    match value {
        ParameterValue::Bool(value) => (*value).into(),
        ParameterValue::Integer(number) => (*number).into(),
        ParameterValue::Real(number) => (*number).into(),
        ParameterValue::Text(text) => text.clone().into(),
        ParameterValue::List(list) => list.iter().map(dynamic).collect::<Vec<_>>().into(),
    }
}

/// Result of a formula ⇒ value.
pub(crate) fn value(result: &Dynamic) -> Result<ParameterValue, String> {
    if let Ok(value) = result.as_bool() {
        return Ok(ParameterValue::Bool(value));
    }
    if let Ok(number) = result.as_int() {
        return Ok(ParameterValue::Integer(number));
    }
    if let Ok(number) = result.as_float() {
        return Ok(ParameterValue::Real(number));
    }
    if let Ok(text) = result.clone().into_string() {
        return Ok(ParameterValue::Text(text));
    }
    match result.clone().into_array() {
        Ok(list) => list.iter().map(value).collect::<Result<_, _>>().map(ParameterValue::List),
        Err(kind) => Err(format!("the formula gives {kind}; a number, text, truth value or list is needed")),
    }
}
