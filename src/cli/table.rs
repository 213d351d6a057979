//! Tables for people: aligned columns without lines, each row on a line of its own.

use comfy_table::{CellAlignment, presets};

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Rows under a head.
pub(super) struct Table {
    table: comfy_table::Table,
    columns: Vec<Align>,
}

impl Table {
    /// A table with these columns.
    pub(super) fn new(columns: &[(&str, Align)]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_header(columns.iter().map(|(name, _)| *name));
        Self { table, columns: columns.iter().map(|&(_, align)| align).collect() }
    }

    /// One more row, with a cell for each column.
    pub(super) fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells);
    }

    /// The lines, without spaces at their ends.
    pub(super) fn text(mut self) -> String {
        for (column, align) in self.table.column_iter_mut().zip(&self.columns) {
            // Two spaces between columns, none before the first.
            column.set_padding((0, 2));
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        let mut text = self.table.trim_fmt();
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_tail() {
        let mut table = Table::new(&[("Name", Align::Left), ("Games", Align::Right)]);
        table.push(["QuietRook7".to_owned(), "7".to_owned()]);
        table.push(["мир".to_owned(), "1204".to_owned()]);
        let expected = "Name        Games\nQuietRook7      7\nмир          1204\n";
        assert_eq!(table.text(), expected);
    }
}
