//! Prints a table with aligned columns.

use std::io::{self, Write};

/// Writes `rows` under `head`; the first `left` columns are aligned to the left,
/// the others, which hold numbers, to the right.
pub fn write(
    out: &mut dyn Write,
    head: &[String],
    rows: &[Vec<String>],
    left: usize,
) -> io::Result<()> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .chain(head.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    for row in [head, &rule]
        .into_iter()
        .chain(rows.iter().map(Vec::as_slice))
    {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            line += if column == 0 { "" } else { "  " };
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = if column < left {
                ("", padding.as_str())
            } else {
                (padding.as_str(), "")
            };
            line.extend([before, cell, after]);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_on_the_left_and_numbers_on_the_right() {
        let words = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut out = Vec::new();
        write(
            &mut out,
            &words("mode,ms"),
            &[words("auto,1.50"), words("parallel,12.0")],
            1,
        )
        .unwrap();
        let expected = "mode        ms\n--------  ----\nauto      1.50\nparallel  12.0\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
