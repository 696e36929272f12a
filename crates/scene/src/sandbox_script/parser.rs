//! Words ⇒ tree.
//!
//! ```text
//! script := block*
//! block  := Name '{' (block | assign)* '}'
//! assign := Name '=' value
//! value  := string | number | 'true' | 'false' | '{' [value (',' value)*] '}'
//! ```
//!
//! A block becomes a table under its name, a value in braces a list. Some blocks may be repeated; every other name occurs once.

use super::lexer::{Lexer, Token};
use crate::document::{Content, Key, Node, Table};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use std::collections::BTreeSet;

/// Blocks that may be repeated.
const MANY: &[&str] = &[
    "Geometries",
    "Geometry",
    "Materials",
    "Material",
    "Forces",
    "Force",
    "Body",
    "Constraint",
    "Group",
    "Rule",
    "Exception",
];
/// Deepest nesting of blocks and lists; a scene needs seven.
const MAX_DEPTH: usize = 32;
/// Most blocks and values of a script.
const MAX_VALUES: usize = 2_000_000;

/// Text ⇒ the tree of its blocks.
pub(super) fn parse(text: &str) -> Read<Table> {
    let mut lexer = Lexer::new(text);
    let ahead = lexer.next()?;
    let mut parser = Parser { lexer, ahead, values: 0 };
    let (mut script, mut seen) = (Table::default(), BTreeSet::new());
    while parser.ahead.0 != Token::End {
        parser.entry(&mut script, &mut seen, None, 0)?;
    }
    Ok(script)
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    ahead: (Token, Span),
    values: usize,
}

impl Parser<'_> {
    fn take(&mut self) -> Read<(Token, Span)> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.ahead, next))
    }

    /// A block or, inside of one, an assignment.
    fn entry(
        &mut self,
        into: &mut Table,
        seen: &mut BTreeSet<String>,
        block: Option<&Key>,
        depth: usize,
    ) -> Read<()> {
        let (token, span) = self.take()?;
        let Token::Name(name) = token else {
            return Err(unexpected(&token, span, block, "a name"));
        };
        let key = Key { name, span };
        let is_block = self.ahead.0 == Token::Open;
        if (!is_block || !MANY.contains(&key.name.as_str())) && !seen.insert(key.name.clone()) {
            let message = format!("`{}` is given already", key.name);
            return Err(Fault::new(key.span, Problem::Syntax(message)));
        }
        match (&self.ahead.0, block) {
            (Token::Open, _) => {
                let content = Content::Table(self.block(&key, depth + 1)?);
                into.entries.push((key, Node { span, content }));
                Ok(())
            }
            (Token::Equals, Some(_)) => {
                self.take()?;
                let node = self.value(&key, depth + 1)?;
                into.entries.push((key, node));
                Ok(())
            }
            (found, _) => {
                let wanted = if block.is_some() { "`=` or `{`" } else { "`{`" };
                let message = format!("after `{}` comes {wanted}, not {}", key.name, found.describe());
                Err(Fault::new(self.ahead.1, Problem::Syntax(message)))
            }
        }
    }

    /// The contents of a block.
    fn block(&mut self, name: &Key, depth: usize) -> Read<Table> {
        self.count(depth)?;
        self.take()?;
        let (mut table, mut seen) = (Table::default(), BTreeSet::new());
        while self.ahead.0 != Token::Close {
            self.entry(&mut table, &mut seen, Some(name), depth)?;
        }
        self.take()?;
        Ok(table)
    }

    fn value(&mut self, key: &Key, depth: usize) -> Read<Node> {
        self.count(depth)?;
        let (token, span) = self.take()?;
        let content = match token {
            Token::Text(text) => Content::Text(text),
            Token::Integer(number) => Content::Integer(number),
            Token::Real(number) => Content::Real(number),
            Token::Name(name) if name == "true" => Content::Bool(true),
            Token::Name(name) if name == "false" => Content::Bool(false),
            Token::Open => return self.list(key, span, depth),
            other => return Err(unexpected(&other, span, Some(key), "a value")),
        };
        Ok(Node { span, content })
    }

    /// The elements of a list, after its opening brace.
    fn list(&mut self, key: &Key, opening: Span, depth: usize) -> Read<Node> {
        let mut list = Vec::new();
        let mut closing = opening;
        while self.ahead.0 != Token::Close {
            list.push(self.value(key, depth + 1)?);
            match self.ahead.0 {
                Token::Comma => {
                    self.take()?;
                    if self.ahead.0 == Token::Close {
                        return Err(unexpected(&Token::Close, self.ahead.1, Some(key), "a value"));
                    }
                }
                Token::Close => {}
                _ => return Err(unexpected(&self.ahead.0, self.ahead.1, Some(key), "`,` or `}`")),
            }
        }
        if let (Token::Close, span) = self.take()? {
            closing = span;
        }
        Ok(Node { span: Span { start: opening.start, end: closing.end }, content: Content::List(list) })
    }

    fn count(&mut self, depth: usize) -> Read<()> {
        self.values += 1;
        let limit = |what, found: usize, limit| {
            Err(Fault::new(self.ahead.1, Problem::Limit { what, found: found.to_string(), limit }))
        };
        if depth > MAX_DEPTH {
            return limit("blocks and lists in each other", depth, MAX_DEPTH);
        }
        if self.values > MAX_VALUES {
            return limit("blocks and values", self.values, MAX_VALUES);
        }
        Ok(())
    }
}

/// The error for an unexpected word, or for the end of the script within a block.
fn unexpected(found: &Token, span: Span, inside: Option<&Key>, wanted: &str) -> Fault {
    let message = match (found, inside) {
        (Token::End, Some(key)) => {
            Problem::Syntax(format!("the script ends inside of `{}`: `}}` is missing", key.name))
        }
        (Token::Close, None) => Problem::Syntax("there is no `{` that this `}` belongs to".into()),
        (_, Some(key)) => Problem::Syntax(format!(
            "in `{}`, {} stands where {wanted} is expected",
            key.name,
            found.describe()
        )),
        (_, None) => Problem::Syntax(format!("{} stands where {wanted} is expected", found.describe())),
    };
    Fault::new(span, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text).unwrap_err().problem.to_string()
    }

    #[test]
    fn blocks_repeat_and_values_do_not() {
        let script = parse("G { Body { x = 1 } Body { x = { } y = {{1, 2}, {3}} } }").unwrap();
        let Content::Table(g) = &script.entries[0].1.content else { panic!() };
        assert_eq!(g.entries.len(), 2);
        let Content::Table(a) = &g.entries[1].1.content else { panic!() };
        assert_eq!(a.get("x").unwrap().content, Content::List(Vec::new()));
        assert!(matches!(&a.get("y").unwrap().content, Content::List(list) if list.len() == 2));
        for text in ["G { x = 1 x = 2 }", "G { } G { }", "G { A { } A { } }", "G { A { } A = 1 }"] {
            assert!(message(text).contains("already"), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(message("G { A { x = 1 }").contains("inside of `G`"));
        assert!(message("G { x = {1, 2").contains("inside of `x`"));
        assert!(message("G { x = {1 2} }").contains("`,`"));
        assert!(message("G { x = {1,} }").contains("a value"));
        assert!(message("}").contains("no `{`"));
        assert!(message("x = 1").contains("comes `{`"));
        assert!(message("G { x }").contains("`=` or `{`"));
        assert!(message("G { x = y }").contains("a value"));
        assert!(message(&"A {".repeat(100)).contains("at most 32"));
        assert!(message(&format!("A {{ x = {}", "{".repeat(100_000))).contains("at most 32"));
    }
}
