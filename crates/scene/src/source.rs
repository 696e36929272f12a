//! The text of a scene, and how a byte range in it becomes a line and a column.

use crate::error::{Place, Problem, SceneError, SceneFault};

/// Longest scene text: every number of it costs some hundred bytes while it is read.
pub const MAX_SCENE_BYTES: u64 = 16 << 20;

/// How much of a very long line a message shows.
const SHOWN_CHARACTERS: usize = 160;

/// A byte range of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

impl From<std::ops::Range<usize>> for Span {
    /// Texts are shorter than [`MAX_SCENE_BYTES`], so nothing is cut.
    fn from(range: std::ops::Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

/// A problem and the bytes it is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub span: Span,
    pub problem: Box<Problem>,
}

impl Fault {
    pub fn new(span: Span, problem: Problem) -> Self {
        Self { span, problem: Box::new(problem) }
    }
}

/// What reading a part of a scene gives.
pub(crate) type Read<T> = Result<T, Fault>;

/// A scene's text and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub origin: String,
    pub text: String,
}

impl Source {
    /// Fault in this text ⇒ error that shows where.
    pub fn error(&self, fault: Fault) -> SceneError {
        SceneError::Fault(Box::new(SceneFault { place: self.place(fault.span), problem: *fault.problem }))
    }

    /// Byte range ⇒ line, column and what stands there.
    pub fn place(&self, span: Span) -> Place {
        let text = &self.text;
        let start = floor_char_boundary(text, span.start as usize);
        let end = floor_char_boundary(text, span.end as usize).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let line = text[line_start..line_end].trim_end_matches('\r');
        let characters_before = text[line_start..start].chars().count();
        let width = text[start..end.min(line_start + line.len()).max(start)].chars().count().max(1);
        // Of a line of a million numbers only the surroundings are shown.
        let skipped =
            if characters_before < SHOWN_CHARACTERS { 0 } else { characters_before - SHOWN_CHARACTERS / 2 };
        let visible = |c: char| if c.is_control() && c != '\t' { '\u{FFFD}' } else { c };
        let source_line: String = line.chars().skip(skipped).take(SHOWN_CHARACTERS).map(visible).collect();
        let offset = characters_before - skipped;
        Place {
            origin: self.origin.clone(),
            line: text[..start].matches('\n').count() + 1,
            column: characters_before + 1,
            source_line,
            offset,
            width: width.min(SHOWN_CHARACTERS - offset),
        }
    }
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long the line, the message is short and the caret stands under what is meant.
    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("a = [{}7, {}]", "1, ".repeat(100_000), "1, ".repeat(100_000));
        let start = text.find('7').unwrap();
        let place = Source { origin: "a".into(), text }.place(Span::from(start..start + 1));
        assert_eq!((place.line, place.column, place.width), (1, start + 1, 1));
        assert!(place.source_line.chars().count() <= SHOWN_CHARACTERS);
        assert_eq!(place.source_line.chars().nth(place.offset), Some('7'));
    }

    #[test]
    fn columns_count_characters_and_lines_count_from_one() {
        let source = Source { origin: "a.toml".into(), text: "αβ = 1\r\nγ = [2]".into() };
        let place = source.place(Span { start: 5, end: 6 });
        assert_eq!((place.line, place.column, place.width), (1, 4, 1));
        let place = source.place(Span { start: 15, end: 99 });
        assert_eq!((place.line, place.column, place.width, place.source_line.as_str()), (2, 5, 3, "γ = [2]"));
        let place = source.place(Span { start: 99, end: 99 });
        assert_eq!((place.line, place.column, place.width), (2, 8, 1));
    }
}
