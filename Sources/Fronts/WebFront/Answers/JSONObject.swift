import JSON
import Reporting

extension JSONObject {
    /// The object on one line; `nil` if it can't be encoded.
    var line: [UInt8]? { (try? JSONWriter.text(self)).map { Array(($0 + "\n").utf8) } }

    /// Returns an object that reports an error: its HTTP status, name and message.
    static func failure(_ status: UInt16, _ name: String, _ message: String) -> JSONObject {
        ["status": status, "error": name, "message": message]
    }
}
