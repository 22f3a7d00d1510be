/// Names an HTTP request in the logs of all processes: what a proxy sent as `X-Request-Id`, or what
/// the gateway made. It travels with every job that is done for the request.
public struct RequestID: Hashable, Sendable {
    /// 1 to 128 letters, digits and signs of `-_.~:/+=@`.
    public let text: String

    /// Bytes of the text at most.
    public static let bytesMax = 128

    /// `nil` for any other text.
    public init?(text: String) {
        guard (1...Self.bytesMax).contains(text.utf8.count),
            text.utf8.allSatisfy(Self.isPermitted)
        else { return nil }
        self.text = text
    }

    /// The 32 hexadecimal digits of a number.
    public init(_ number: Identifier128) { text = number.hex }

    private static func isPermitted(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: signs.contains(byte)
        }
    }

    private static let signs = Array("-_.~:/+=@".utf8)
}
