//! Tables as Apache Parquet files, column by column.
//!
//! A file is `PAR1`, row groups, a footer, the footer's length as u32, `PAR1`. A row group holds each column as one page: a header,
//! then the values one after the other, numbers as eight bytes, texts as a length and bytes (the encoding PLAIN; nothing is
//! compressed, and since no value is ever missing, no levels are stored). Headers and footer are written in Thrift's compact protocol:
//! a field is a byte of (distance to the last field's number, type), whole numbers are zigzag varints, a struct ends with 0.
//!
//! That is all a table of numbers needs, and every reader of Parquet takes it.

use std::io::{self, Write};

const MAGIC: &[u8; 4] = b"PAR1";
/// Rows are kept until there are so many of them, then they become a row group.
const GROUP_ROWS: usize = 65_536;

/// Types of Thrift's compact protocol.
mod thrift {
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const STRUCT: u8 = 12;
}

/// Numbers that the format gives to what is used here.
mod code {
    pub const DOUBLE: u64 = 5;
    pub const BYTE_ARRAY: u64 = 6;
    pub const REQUIRED: u64 = 0;
    pub const UTF8: u64 = 0;
    pub const PLAIN: u64 = 0;
    pub const RLE: u64 = 3;
    pub const UNCOMPRESSED: u64 = 0;
    pub const DATA_PAGE: u64 = 0;
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// f64.
    Number,
    /// UTF-8.
    Text,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// For a column of numbers.
    Number(f64),
    /// For a column of texts.
    Text(&'a str),
}

#[derive(Debug)]
struct Column {
    name: String,
    holds: ColumnType,
    /// Values of the row group that is being filled.
    values: Vec<u8>,
}

/// Where a column of a row group lies in the file.
#[derive(Debug)]
struct Chunk {
    offset: u64,
    bytes: u64,
}

#[derive(Debug)]
struct RowGroup {
    rows: u64,
    chunks: Vec<Chunk>,
}

/// A table being written.
///
/// ```
/// use rattleback_lab::parquet::{Cell, ColumnType, ParquetWriter};
/// let columns = [("time", ColumnType::Number), ("body", ColumnType::Text)];
/// let mut writer = ParquetWriter::new(Vec::new(), &columns)?;
/// writer.row(&[Cell::Number(0.5), Cell::Text("ball")])?;
/// let file = writer.finish()?;
/// assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ParquetWriter<W: Write> {
    out: W,
    /// Bytes written so far.
    offset: u64,
    columns: Vec<Column>,
    rows: usize,
    groups: Vec<RowGroup>,
}

impl<W: Write> ParquetWriter<W> {
    /// (where to, names and types of the columns) ⇒ writer.
    ///
    /// # Errors
    /// Writing failed.
    pub fn new(mut out: W, columns: &[(&str, ColumnType)]) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let column = |(name, column_type): &(&str, ColumnType)| Column {
            name: (*name).to_owned(),
            holds: *column_type,
            values: Vec::new(),
        };
        Ok(Self {
            out,
            offset: MAGIC.len() as u64,
            columns: columns.iter().map(column).collect(),
            rows: 0,
            groups: Vec::new(),
        })
    }

    /// Adds a row, one value of the right type for each column; refused without a trace if it is anything else.
    ///
    /// # Errors
    /// Writing failed, or the cells are not of the types of the columns.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        let fits = |(column, cell): (&Column, &Cell<'_>)| match cell {
            Cell::Number(_) => column.holds == ColumnType::Number,
            Cell::Text(text) => column.holds == ColumnType::Text && u32::try_from(text.len()).is_ok(),
        };
        if cells.len() != self.columns.len() || !self.columns.iter().zip(cells).all(fits) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a row does not fit the columns"));
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match cell {
                Cell::Number(number) => column.values.extend_from_slice(&number.to_le_bytes()),
                Cell::Text(text) => {
                    column.values.extend_from_slice(&(text.len() as u32).to_le_bytes());
                    column.values.extend_from_slice(text.as_bytes());
                }
            }
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS {
            self.end_group()?;
        }
        Ok(())
    }

    /// Writes what is left and the footer ⇒ what was written to.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let footer = self.footer();
        self.out.write_all(&footer)?;
        self.out.write_all(&(footer.len() as u32).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let header = page_header(column.values.len(), self.rows);
            self.out.write_all(&header)?;
            self.out.write_all(&column.values)?;
            let bytes = (header.len() + column.values.len()) as u64;
            chunks.push(Chunk { offset: self.offset, bytes });
            self.offset += bytes;
            column.values.clear();
        }
        self.groups.push(RowGroup { rows: self.rows as u64, chunks });
        self.rows = 0;
        Ok(())
    }

    fn footer(&self) -> Vec<u8> {
        let mut out = Compact::default();
        out.whole(1, thrift::I32, 1);
        out.list(2, thrift::STRUCT, self.columns.len() + 1);
        out.element(|out| {
            out.text(4, "table");
            out.whole(5, thrift::I32, self.columns.len() as u64);
        });
        for column in &self.columns {
            out.element(|out| {
                out.whole(1, thrift::I32, column.code());
                out.whole(3, thrift::I32, code::REQUIRED);
                out.text(4, &column.name);
                if column.holds == ColumnType::Text {
                    out.whole(6, thrift::I32, code::UTF8);
                }
            });
        }
        out.whole(3, thrift::I64, self.groups.iter().map(|group| group.rows).sum::<u64>());
        out.list(4, thrift::STRUCT, self.groups.len());
        for group in &self.groups {
            out.element(|out| self.describe(group, out));
        }
        out.text(6, concat!("Rattleback ", env!("CARGO_PKG_VERSION")));
        out.end()
    }

    fn describe(&self, group: &RowGroup, out: &mut Compact) {
        out.list(1, thrift::STRUCT, group.chunks.len());
        for (column, chunk) in self.columns.iter().zip(&group.chunks) {
            out.element(|out| {
                out.whole(2, thrift::I64, chunk.offset);
                out.inner(3, |out| {
                    out.whole(1, thrift::I32, column.code());
                    out.list(2, thrift::I32, 1);
                    out.zigzag(code::PLAIN);
                    out.list(3, thrift::BINARY, 1);
                    out.bytes(column.name.as_bytes());
                    out.whole(4, thrift::I32, code::UNCOMPRESSED);
                    out.whole(5, thrift::I64, group.rows);
                    out.whole(6, thrift::I64, chunk.bytes);
                    out.whole(7, thrift::I64, chunk.bytes);
                    out.whole(9, thrift::I64, chunk.offset);
                });
            });
        }
        out.whole(2, thrift::I64, group.chunks.iter().map(|chunk| chunk.bytes).sum::<u64>());
        out.whole(3, thrift::I64, group.rows);
    }
}

impl Column {
    const fn code(&self) -> u64 {
        match self.holds {
            ColumnType::Number => code::DOUBLE,
            ColumnType::Text => code::BYTE_ARRAY,
        }
    }
}

fn page_header(bytes: usize, rows: usize) -> Vec<u8> {
    let mut out = Compact::default();
    out.whole(1, thrift::I32, code::DATA_PAGE);
    out.whole(2, thrift::I32, bytes as u64);
    out.whole(3, thrift::I32, bytes as u64);
    out.inner(5, |out| {
        out.whole(1, thrift::I32, rows as u64);
        out.whole(2, thrift::I32, code::PLAIN);
        out.whole(3, thrift::I32, code::RLE);
        out.whole(4, thrift::I32, code::RLE);
    });
    out.end()
}

/// A struct in Thrift's compact protocol.
#[derive(Debug, Default)]
struct Compact {
    out: Vec<u8>,
    /// Number of the last field.
    last: u8,
}

impl Compact {
    /// Fields have small numbers in rising order, so the distance always fits into four bits.
    fn field(&mut self, number: u8, thrift_type: u8) {
        self.out.push((number - self.last) << 4 | thrift_type);
        self.last = number;
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }

    /// Zigzag counts 0, −1, 1, −2, …: a number that is not negative becomes its double.
    fn zigzag(&mut self, number: u64) {
        self.varint(number << 1);
    }

    fn whole(&mut self, number: u8, thrift_type: u8, value: u64) {
        self.field(number, thrift_type);
        self.zigzag(value);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn text(&mut self, number: u8, text: &str) {
        self.field(number, thrift::BINARY);
        self.bytes(text.as_bytes());
    }

    fn list(&mut self, number: u8, element: u8, length: usize) {
        self.field(number, thrift::LIST);
        if length < 15 {
            self.out.push((length as u8) << 4 | element);
        } else {
            self.out.push(0xF0 | element);
            self.varint(length as u64);
        }
    }

    /// A struct in a list: no header of its own.
    fn element(&mut self, fill: impl FnOnce(&mut Self)) {
        let last = std::mem::take(&mut self.last);
        fill(self);
        self.out.push(0);
        self.last = last;
    }

    /// A struct in a field.
    fn inner(&mut self, number: u8, fill: impl FnOnce(&mut Self)) {
        self.field(number, thrift::STRUCT);
        self.element(fill);
    }

    fn end(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }
}

#[cfg(test)]
mod tests;
