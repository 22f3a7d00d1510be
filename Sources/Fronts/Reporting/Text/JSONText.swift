package import JSON
import Observability

/// JSON on one line, names in alphabetical order, a line feed at the end.
package enum JSONText {
    package static func text(_ value: some Encodable) throws(JSONError) -> String {
        // The writer leaves C1 controls as they are, and what changes the direction of text.
        PlainText.line(try JSONWriter.text(value)) + "\n"
    }
}
