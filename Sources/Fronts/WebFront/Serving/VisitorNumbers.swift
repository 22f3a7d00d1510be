/// Numbers for visitors that nobody outside can choose: whoever knew them could meet others in
/// their turns.
package struct VisitorNumbers: Sendable {
    private let salt = UInt64.random(in: 1 ... .max)

    package init() {}

    /// The same number for the same text, in this process; never 0, which is nobody.
    package func number(of text: String) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(text)
        return max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }
}
