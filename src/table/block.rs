//! The values of rows, flat: a block of small cells, and one buffer with the
//! bytes of all texts and blobs. However many rows there are, that is two
//! allocations that grow, and whoever writes a value out borrows it from here.

use rusqlite::ffi;
use rusqlite::types::ValueRef;

use crate::db::BorrowedValue;

/// Values one after another; whose they are the owner knows.
#[derive(Debug, Default, Clone)]
pub struct Block {
    cells: Vec<Cell>,
    bytes: Vec<u8>,
}

/// A value. The bytes of a text or a blob are in the buffer, in the order of the cells.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text { len: u32, start: usize },
    Blob { len: u32, start: usize },
}

impl Block {
    /// Room for so many values.
    pub fn with_capacity(values: usize) -> Self {
        Self {
            cells: Vec::with_capacity(values),
            // Most texts are short, and the buffer grows by itself.
            bytes: Vec::with_capacity(values * 8),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// How many bytes the texts and blobs have together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Appends a value. `SQLITE_TOOBIG` for one of 4 GiB, which SQLite does not make.
    pub fn push(&mut self, value: ValueRef<'_>) -> rusqlite::Result<()> {
        let cell = match value {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(i) => Cell::Integer(i),
            ValueRef::Real(f) => Cell::Real(f),
            ValueRef::Text(text) => {
                let (start, len) = self.keep(text)?;
                Cell::Text { len, start }
            }
            ValueRef::Blob(blob) => {
                let (start, len) = self.keep(blob)?;
                Cell::Blob { len, start }
            }
        };
        self.cells.push(cell);
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> rusqlite::Result<(usize, u32)> {
        let Ok(len) = u32::try_from(bytes.len()) else {
            let error = ffi::Error::new(ffi::SQLITE_TOOBIG);
            return Err(rusqlite::Error::SqliteFailure(error, None));
        };
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Ok((start, len))
    }

    /// The values in rows of `width`, which is not 0.
    pub fn rows(
        &self,
        width: usize,
    ) -> impl DoubleEndedIterator<Item = Row<'_>> + ExactSizeIterator {
        let bytes = &self.bytes;
        self.cells
            .chunks_exact(width)
            .map(move |cells| Row { cells, bytes })
    }

    /// Keeps the first `values`.
    pub fn truncate(&mut self, values: usize) {
        let dropped = self.cells.get(values..).unwrap_or_default();
        let start = dropped.iter().find_map(|cell| match cell {
            Cell::Text { start, .. } | Cell::Blob { start, .. } => Some(*start),
            _ => None,
        });
        self.bytes.truncate(start.unwrap_or(self.bytes.len()));
        self.cells.truncate(values);
    }

    /// Takes the last value out of every `width`.
    pub fn drop_last_of_each(&mut self, width: usize) {
        let mut n = 0;
        self.cells.retain(|_| {
            n += 1;
            n % width != 0
        });
    }

    /// Takes all values out, and keeps the memory for others, of the bytes `most` at the most.
    pub fn clear(&mut self, most: usize) {
        self.cells.clear();
        self.bytes.clear();
        self.bytes.shrink_to(most);
    }
}

/// A row, borrowed from its block.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row<'r> {
    cells: &'r [Cell],
    bytes: &'r [u8],
}

impl<'r> Row<'r> {
    /// The value in the column at `position`, which must be there, as in a slice.
    pub fn value(self, position: usize) -> BorrowedValue<'r> {
        self.read(self.cells[position])
    }

    /// The value in the column at `position`, if there is one.
    pub fn get(self, position: usize) -> Option<BorrowedValue<'r>> {
        self.cells.get(position).map(|&cell| self.read(cell))
    }

    /// All values.
    pub fn values(
        self,
    ) -> impl DoubleEndedIterator<Item = BorrowedValue<'r>> + ExactSizeIterator + Clone {
        self.cells.iter().map(move |&cell| self.read(cell))
    }

    fn read(self, cell: Cell) -> BorrowedValue<'r> {
        let bytes = |start: usize, len: u32| &self.bytes[start..][..len as usize];
        match cell {
            Cell::Null => BorrowedValue::Null,
            Cell::Integer(i) => BorrowedValue::Integer(i),
            Cell::Real(f) => BorrowedValue::Real(f),
            Cell::Text { len, start } => BorrowedValue::Text(bytes(start, len)),
            Cell::Blob { len, start } => BorrowedValue::Blob(bytes(start, len)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(values: &[BorrowedValue<'_>]) -> Block {
        let mut block = Block::default();
        for value in values {
            block.push(value.as_ref()).unwrap();
        }
        block
    }

    #[test]
    fn a_block_is_two_buffers_and_its_cells_own_nothing() {
        const fn owns_nothing<T: Copy>() {}
        owns_nothing::<Cell>();
        assert_eq!(size_of::<Cell>(), 16);
        assert_eq!(size_of::<Block>(), 2 * size_of::<Vec<u8>>());
    }

    #[test]
    fn ten_thousand_texts_are_few_allocations() {
        let mut block = Block::default();
        let mut grown = 0;
        for n in 0..10_000 {
            let before = (block.cells.capacity(), block.bytes.capacity());
            block.push(ValueRef::Text(b"twenty bytes of text")).unwrap();
            let after = (block.cells.capacity(), block.bytes.capacity());
            grown += u32::from(before.0 != after.0) + u32::from(before.1 != after.1);
            assert_eq!(block.bytes(), (n + 1) * 20);
        }
        assert!(grown < 40, "{grown}");
    }

    #[test]
    fn every_value_comes_back_as_it_was() {
        let values = [
            BorrowedValue::Null,
            BorrowedValue::Integer(i64::MIN),
            BorrowedValue::Real(-0.0),
            BorrowedValue::Real(f64::INFINITY),
            BorrowedValue::Text(b""),
            BorrowedValue::Text(b"nul\0\xff"),
            BorrowedValue::Blob(b"\0"),
            BorrowedValue::Blob(b""),
        ];
        let block = block(&values);
        let row = block.rows(values.len()).next().unwrap();
        assert_eq!(row.values().collect::<Vec<_>>(), values);
        assert!(matches!(row.value(2), BorrowedValue::Real(f) if f.is_sign_negative()));
        assert_eq!(row.get(5), Some(values[5]));
        assert_eq!(row.get(8), None);
        assert_eq!(block.bytes(), 6);
    }

    #[test]
    fn what_is_cut_off_takes_its_bytes_along() {
        let text = BorrowedValue::Text;
        let mut block = block(&[
            BorrowedValue::Integer(1),
            text(b"ab"),
            BorrowedValue::Integer(2),
            text(b"cd"),
        ]);
        block.truncate(9);
        assert_eq!((block.len(), block.bytes()), (4, 4));
        block.truncate(2);
        assert_eq!((block.len(), block.bytes()), (2, 2));
        block.drop_last_of_each(2);
        let rows: Vec<_> = block.rows(1).map(|row| row.value(0)).collect();
        assert_eq!(rows, [BorrowedValue::Integer(1)]);
        block.truncate(0);
        assert!(block.is_empty());
    }

    #[test]
    fn memory_is_kept_for_other_values_up_to_a_bound() {
        let mut block = block(&[BorrowedValue::Text(&[b'x'; 1000])]);
        block.clear(5000);
        assert!(block.is_empty() && block.bytes() == 0);
        assert!(block.bytes.capacity() >= 1000);
        block.clear(10);
        assert!(block.bytes.capacity() < 1000);
    }
}
