import FoundationEssentials
import Observability

/// JSON on one line, names in alphabetical order, a line feed at the end.
package enum JSONText {
    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The encoder leaves C1 controls as they are, and what changes the direction of text.
        return PlainText.line(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }
}
