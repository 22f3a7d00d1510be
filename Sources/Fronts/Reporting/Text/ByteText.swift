/// Numbers of bytes for people.
package enum ByteText {
    /// `812 bytes`, `36.1 KB`, `1.2 MB`: 1024 bytes are a KB.
    package static func text(_ count: UInt64) -> String {
        guard count >= 1024 else { return "\(count) bytes" }
        var value = Double(count)
        var unit = ""
        for next in ["KB", "MB", "GB", "TB"] where value >= 1024 {
            value /= 1024
            unit = next
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
