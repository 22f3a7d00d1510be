internal import CNettle

/// Comparison of what strangers send with what only we can know.
public enum SecretBytes {
    /// Whether both have the same length and the same bytes (`memeql_sec`): only the length shows
    /// in the time that it takes.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                guard let first = left.baseAddress, let second = right.baseAddress else {
                    return true
                }
                return nettle_memeql_sec(first, second, left.count) == 1
            }
        }
    }
}
