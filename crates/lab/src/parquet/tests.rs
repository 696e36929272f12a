//! Files are taken apart by a second reader, written from the specification the other way round: values of Thrift's compact protocol as a
//! tree, then pages by the footer.

use super::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Whole(u64),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Struct(BTreeMap<u64, Self>),
}

impl Value {
    fn field(&self, number: u64) -> &Self {
        match self {
            Self::Struct(fields) => &fields[&number],
            other => panic!("{other:?} has no fields"),
        }
    }

    fn whole(&self, number: u64) -> u64 {
        match self.field(number) {
            Self::Whole(whole) => *whole,
            other => panic!("{other:?}"),
        }
    }

    fn list(&self, number: u64) -> &[Self] {
        match self.field(number) {
            Self::List(list) => list,
            other => panic!("{other:?}"),
        }
    }

    fn text(&self, number: u64) -> String {
        match self.field(number) {
            Self::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap();
        self.0 = rest;
        *first
    }

    fn varint(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn value(&mut self, kind: u8) -> Value {
        match kind {
            5 | 6 => {
                let number = self.varint();
                assert_eq!(number & 1, 0, "nothing here is negative");
                Value::Whole(number >> 1)
            }
            8 => {
                let length = self.varint() as usize;
                let (bytes, rest) = self.0.split_at(length);
                self.0 = rest;
                Value::Bytes(bytes.to_vec())
            }
            9 => {
                let head = self.byte();
                let length = if head >> 4 == 15 { self.varint() } else { u64::from(head >> 4) };
                Value::List((0..length).map(|_| self.value(head & 15)).collect())
            }
            12 => {
                let (mut fields, mut last) = (BTreeMap::new(), 0);
                loop {
                    let head = self.byte();
                    if head == 0 {
                        return Value::Struct(fields);
                    }
                    last += u64::from(head >> 4);
                    fields.insert(last, self.value(head & 15));
                }
            }
            other => panic!("type {other}"),
        }
    }
}

fn footer(file: &[u8]) -> Value {
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    let end = file.len() - 8;
    let length = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
    let mut reader = Reader(&file[end - length..end]);
    let value = reader.value(12);
    assert!(reader.0.is_empty(), "the footer has its stated length");
    value
}

/// Bytes of the values of a column, over all row groups.
fn column(file: &[u8], footer: &Value, number: usize) -> Vec<u8> {
    let mut values = Vec::new();
    for group in footer.list(4) {
        let chunk = group.list(1)[number].field(3);
        let start = chunk.whole(9) as usize;
        let mut reader = Reader(&file[start..start + chunk.whole(7) as usize]);
        let header = reader.value(12);
        assert_eq!((header.whole(1), header.field(5).whole(2)), (0, 0));
        assert_eq!(header.field(5).whole(1), group.whole(3));
        assert_eq!(header.whole(2) as usize, reader.0.len(), "the page fills its chunk");
        values.extend_from_slice(reader.0);
    }
    values
}

fn written(rows: usize) -> Vec<u8> {
    let columns = [("time", ColumnType::Number), ("body", ColumnType::Text), ("größe", ColumnType::Number)];
    let mut writer = ParquetWriter::new(Vec::new(), &columns).unwrap();
    for k in 0..rows {
        let name = format!("kugel „{}“", k % 7);
        writer
            .row(&[Cell::Number(0.1 * k as f64), Cell::Text(&name), Cell::Number(-1.0 / (1 + k) as f64)])
            .unwrap();
    }
    writer.finish().unwrap()
}

/// More rows than a group holds, names with every length of UTF-8: each value comes back bit for bit.
#[test]
fn what_is_written_reads_back() {
    for rows in [0, 1, 10, GROUP_ROWS, GROUP_ROWS + 1] {
        let file = written(rows);
        let footer = footer(&file);
        assert_eq!(footer.whole(3), rows as u64);
        assert_eq!(footer.list(4).len(), rows.div_ceil(GROUP_ROWS));
        let names: Vec<String> = footer.list(2)[1..].iter().map(|element| element.text(4)).collect();
        assert_eq!(names, ["time", "body", "größe"]);
        assert_eq!(footer.list(2)[0].whole(5), 3);
        let numbers = |k: usize| -> Vec<f64> {
            let bytes = column(&file, &footer, k);
            bytes.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
        };
        let (times, sizes, texts) = (numbers(0), numbers(2), column(&file, &footer, 1));
        let mut texts = &texts[..];
        for k in 0..rows {
            assert_eq!((times[k], sizes[k]), (0.1 * k as f64, -1.0 / (1 + k) as f64));
            let length = u32::from_le_bytes(texts[..4].try_into().unwrap()) as usize;
            assert_eq!(&texts[4..4 + length], format!("kugel „{}“", k % 7).as_bytes());
            texts = &texts[4 + length..];
        }
        assert!(texts.is_empty());
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let columns = [("time", ColumnType::Number), ("body", ColumnType::Text)];
    let mut writer = ParquetWriter::new(Vec::new(), &columns).unwrap();
    assert!(writer.row(&[Cell::Number(1.0)]).is_err());
    assert!(writer.row(&[Cell::Text("a"), Cell::Number(1.0)]).is_err());
    assert!(writer.row(&[Cell::Number(1.0), Cell::Number(1.0)]).is_err());
    assert_eq!(footer(&writer.finish().unwrap()).whole(3), 0);
}

#[test]
fn wide_tables_have_long_lists() {
    let names: Vec<String> = (0..40).map(|k| format!("c{k}")).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), ColumnType::Number)).collect();
    let mut writer = ParquetWriter::new(Vec::new(), &columns).unwrap();
    writer.row(&vec![Cell::Number(2.5); 40]).unwrap();
    let file = writer.finish().unwrap();
    assert_eq!(column(&file, &footer(&file), 39), 2.5_f64.to_le_bytes());
}
