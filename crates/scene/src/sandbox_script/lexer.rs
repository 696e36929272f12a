//! Text of a sandbox script ⇒ words, one at a time, each with its place.
//!
//! Blanks and line ends separate words and mean nothing else; `//` and `#` comment to the end of the line, `/* … */` anywhere.

use crate::error::Problem;
use crate::source::{Fault, Read, Span};

/// Longest string and longest name: no id is longer, and messages repeat them.
const MAX_WORD: usize = 4096;

/// A word of the script.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name: letters, digits, underscores.
    Name(String),
    /// A string, trimmed.
    Text(String),
    Integer(i64),
    Real(f64),
    Open,
    Close,
    Equals,
    Comma,
    End,
}

impl Token {
    /// Description for messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Text(text) => format!("the string {text:?}"),
            Self::Integer(number) => format!("the number {number}"),
            Self::Real(number) => format!("the number {number}"),
            Self::Open => "`{`".into(),
            Self::Close => "`}`".into(),
            Self::Equals => "`=`".into(),
            Self::Comma => "`,`".into(),
            Self::End => "the end of the script".into(),
        }
    }
}

/// Reads words from a text.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next word and its place.
    pub fn next(&mut self) -> Read<(Token, Span)> {
        self.skip_blanks_and_comments()?;
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok((Token::End, Span::from(start..start)));
        };
        let token = match first {
            '{' => self.sign(Token::Open),
            '}' => self.sign(Token::Close),
            '=' => self.sign(Token::Equals),
            ',' => self.sign(Token::Comma),
            '"' => self.string()?,
            '+' | '-' | '.' | '0'..='9' => self.number()?,
            c if c.is_ascii_alphabetic() || c == '_' => Token::Name(self.run(is_name).to_owned()),
            '\\' => {
                let message =
                    "a backslash has no meaning here (printed scripts have `\\{` where `{` is meant)";
                return Err(fault(start, 1, message));
            }
            c => {
                let message = format!("`{}` has no meaning in a sandbox script", c.escape_default());
                return Err(fault(start, c.len_utf8(), &message));
            }
        };
        if self.at - start > MAX_WORD {
            return Err(fault(start, 1, &format!("a word may have {MAX_WORD} bytes at most")));
        }
        Ok((token, Span::from(start..self.at)))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn sign(&mut self, token: Token) -> Token {
        self.at += 1;
        token
    }

    /// Takes characters as long as they fit.
    fn run(&mut self, fits: fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !fits(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn skip_blanks_and_comments(&mut self) -> Read<()> {
        loop {
            self.run(char::is_whitespace);
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') {
                self.run(|c| c != '\n');
            } else if rest.starts_with("/*") {
                let Some(length) = rest.find("*/") else {
                    return Err(fault(self.at, 2, "this comment has no end: `*/` is missing"));
                };
                self.at += length + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn string(&mut self) -> Read<Token> {
        let start = self.at;
        let inside = &self.rest()[1..];
        match inside.find(['"', '\n']) {
            Some(length) if inside.as_bytes()[length] == b'"' => {
                self.at += length + 2;
                Ok(Token::Text(inside[..length].trim().to_owned()))
            }
            _ => Err(fault(start, 1, "this string has no end in its line: `\"` is missing")),
        }
    }

    fn number(&mut self) -> Read<Token> {
        let start = self.at;
        let first = self.run(|c| is_name(c) || ".+-".contains(c));
        // A sign inside belongs to an exponent; anywhere else the number ends before it.
        let bytes = first.as_bytes();
        let cut = (1..bytes.len())
            .find(|&k| matches!(bytes[k], b'+' | b'-') && !matches!(bytes[k - 1], b'e' | b'E'));
        let word = &first[..cut.unwrap_or(first.len())];
        self.at = start + word.len();
        if let Ok(number) = word.parse::<i64>() {
            return Ok(Token::Integer(number));
        }
        let looks = word.contains(|c: char| c.is_ascii_digit())
            && !word.contains(|c: char| !(c.is_ascii_digit() || ".eE+-".contains(c)));
        match word.parse::<f64>() {
            Ok(number) if looks && number.is_finite() => Ok(Token::Real(number)),
            Ok(number) if looks => Err(Fault::new(
                Span::from(start..self.at),
                Problem::Range { key: "number".into(), allowed: "finite".into(), value: number.to_string() },
            )),
            _ => Err(fault(start, word.len(), &format!("`{word}` is not a number"))),
        }
    }
}

fn fault(start: usize, length: usize, message: &str) -> Fault {
    Fault::new(Span::from(start..start + length), Problem::Syntax(message.into()))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Token> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| lexer.next().ok().map(|(token, _)| token).filter(|token| *token != Token::End))
            .collect()
    }

    #[test]
    fn words_need_no_blanks_and_comments_are_skipped() {
        let text = "A{b=\" x y \"/* {{ */c = {1,-2.5e-3,+4}// }\nd=true# {\n}";
        let name = |name: &str| Token::Name(name.into());
        let expected = vec![
            name("A"),
            Token::Open,
            name("b"),
            Token::Equals,
            Token::Text("x y".into()),
            name("c"),
            Token::Equals,
            Token::Open,
            Token::Integer(1),
            Token::Comma,
            Token::Real(-2.5e-3),
            Token::Comma,
            Token::Integer(4),
            Token::Close,
            name("d"),
            Token::Equals,
            name("true"),
            Token::Close,
        ];
        assert_eq!(words(text), expected);
        assert_eq!(
            words("1-2 1e5-3"),
            [1, -2]
                .map(Token::Integer)
                .into_iter()
                .chain([Token::Real(1e5), Token::Integer(-3)])
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_is_no_word_is_refused() {
        for text in ["\"a", "\"a\n\"", "/* a", "1.2.3", "1x", "-", "1e", "é", "\\{", "1e999", "--1", "."] {
            assert!(Lexer::new(text).next().is_err(), "{text}");
        }
    }
}
