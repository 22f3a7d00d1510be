/// A number of seconds as HTTP writes it (RFC 9111 §1.2.2).
public enum DeltaSeconds {
    /// Larger ones, and those that nobody can hold, count as this.
    public static let most: Int64 = 1 << 31

    /// `nil` for what is no row of digits.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty else { return nil }
        var sum: Int64 = 0
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            sum = min(sum * 10 + Int64(byte - 0x30), most)
        }
        return sum
    }
}
