import Observability

/// Rows and numbers for people.
package enum TextTable {
    /// The first column to the left, the others to the right.
    package static func text(_ header: [String], _ rows: [[String]]) -> String {
        let lines = ([header] + rows).map { $0.map(PlainText.line) }
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { cells in
            let padded = cells.indices.map { column in
                let blanks = String(repeating: " ", count: widths[column] - cells[column].count)
                return column == 0 ? cells[column] + blanks : blanks + cells[column]
            }
            return padded.joined(separator: "  ") + "\n"
        }.joined()
    }

    /// One decimal.
    package static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
