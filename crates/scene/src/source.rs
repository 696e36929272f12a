//! The text of a scene, and the line and column of a byte range in it.
//!
//! A scene may consist of several files. Their texts are numbered consecutively, one byte apart, so a byte range determines its file.

use crate::error::{Place, Problem, SceneError, SceneFault};

/// Longest scene text, bytes; every number in it takes some hundred bytes of memory while it is read.
pub const MAX_SCENE_BYTES: u64 = 16 << 20;

/// Most characters of a line that a message shows.
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

impl Span {
    /// The same range in a text that begins that many bytes later.
    pub fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by as u32, end: self.end + by as u32 }
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

/// One file of a scene.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    origin: String,
    text: String,
    /// Where its bytes begin among those of all parts.
    start: usize,
}

/// A scene's text, file by file, and what each is called.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    first: Part,
    others: Vec<Part>,
}

impl Source {
    /// (what to call it, text) ⇒ source of one part.
    pub fn new(origin: &str, text: String) -> Self {
        Self { first: Part { origin: origin.into(), text, start: 0 }, others: Vec::new() }
    }

    /// Adds a file ⇒ where its bytes begin.
    pub fn add(&mut self, origin: &str, text: String) -> usize {
        let start = self.bytes() + 1;
        self.others.push(Part { origin: origin.into(), text, start });
        start
    }

    /// Bytes of all parts.
    pub fn bytes(&self) -> usize {
        let last = self.others.last().unwrap_or(&self.first);
        last.start + last.text.len()
    }

    fn part(&self, span: Span) -> &Part {
        let own = self.others.iter().rev().find(|part| part.start <= span.start as usize);
        own.unwrap_or(&self.first)
    }

    /// Name of the file that a byte range is in.
    pub fn origin(&self, span: Span) -> &str {
        &self.part(span).origin
    }

    /// Fault in this text ⇒ error that shows where.
    pub fn error(&self, fault: Fault) -> SceneError {
        SceneError::Fault(Box::new(SceneFault { place: self.place(fault.span), problem: *fault.problem }))
    }

    /// Byte range ⇒ line, column and the text of the line.
    pub fn place(&self, span: Span) -> Place {
        let part = self.part(span);
        let text = &part.text;
        let start = floor_char_boundary(text, span.start as usize - part.start);
        let end = floor_char_boundary(text, (span.end as usize).saturating_sub(part.start)).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let line = text[line_start..line_end].trim_end_matches('\r');
        let characters_before = text[line_start..start].chars().count();
        let width = text[start..end.min(line_start + line.len()).max(start)].chars().count().max(1);
        // Of a very long line only the surroundings are shown.
        let skipped =
            if characters_before < SHOWN_CHARACTERS { 0 } else { characters_before - SHOWN_CHARACTERS / 2 };
        let visible = |c: char| if c.is_control() && c != '\t' { '\u{FFFD}' } else { c };
        let source_line: String = line.chars().skip(skipped).take(SHOWN_CHARACTERS).map(visible).collect();
        let offset = characters_before - skipped;
        Place {
            origin: part.origin.clone(),
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

    /// However long the line, the message is short and the caret is under the right character.
    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("a = [{}7, {}]", "1, ".repeat(100_000), "1, ".repeat(100_000));
        let start = text.find('7').unwrap();
        let place = Source::new("a", text).place(Span::from(start..start + 1));
        assert_eq!((place.line, place.column, place.width), (1, start + 1, 1));
        assert!(place.source_line.chars().count() <= SHOWN_CHARACTERS);
        assert_eq!(place.source_line.chars().nth(place.offset), Some('7'));
    }

    #[test]
    fn columns_count_characters_and_lines_count_from_one() {
        let source = Source::new("a.toml", "αβ = 1\r\nγ = [2]".into());
        let place = source.place(Span { start: 5, end: 6 });
        assert_eq!((place.line, place.column, place.width), (1, 4, 1));
        let place = source.place(Span { start: 15, end: 99 });
        assert_eq!((place.line, place.column, place.width, place.source_line.as_str()), (2, 5, 3, "γ = [2]"));
        let place = source.place(Span { start: 99, end: 99 });
        assert_eq!((place.line, place.column, place.width), (2, 8, 1));
    }

    /// The end of one file is not the beginning of the next.
    #[test]
    fn a_place_is_in_its_own_file() {
        let mut source = Source::new("a.toml", "x = 1\n".into());
        let start = source.add("b.toml", "y = 2".into());
        let place_of = |at: usize| {
            let place = source.place(Span::from(at..at + 1));
            (place.origin, place.line, place.column)
        };
        assert_eq!(place_of(6), ("a.toml".into(), 2, 1));
        assert_eq!(place_of(start), ("b.toml".into(), 1, 1));
        assert_eq!(place_of(start + 4), ("b.toml".into(), 1, 5));
    }
}
