/// Where a request belongs in the trace of its caller: W3C Trace Context, `traceparent` of version
/// 00. It travels with every job that is done for the request, into the logs of all processes.
public struct TraceContext: Hashable, Sendable {
    /// The trace; not 0.
    public let trace: Identifier128
    /// The caller's span; not 0.
    public let parent: UInt64
    /// Bit 0: the caller records it.
    public let flags: UInt8

    /// Whether the caller records it.
    public var isSampled: Bool { flags & 1 == 1 }

    /// Bytes of the text.
    public static let textBytes = 55

    /// Takes the parts; `nil` where trace or parent is 0.
    public init?(trace: Identifier128, parent: UInt64, flags: UInt8) {
        guard trace != Identifier128(high: 0, low: 0), parent != 0 else { return nil }
        self.trace = trace
        self.parent = parent
        self.flags = flags
    }

    /// Reads `00-TRACE-PARENT-FLAGS`, hex digits in lower case; a later version may be longer
    /// (Trace Context §3.2.4). `nil` for anything else: who gets it begins without a trace.
    public init?(text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.textBytes else { return nil }
        let dash = UInt8(ascii: "-")
        let separators = [2, 35, 52]
        guard separators.allSatisfy({ bytes[$0] == dash }),
            let version = Self.number(bytes[0..<2]), version != 0xFF,
            bytes.count == Self.textBytes || (version > 0 && bytes[Self.textBytes] == dash),
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]),
            let parent = Self.number(bytes[36..<52]), let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.init(
            trace: Identifier128(high: high, low: low), parent: parent,
            flags: UInt8(truncatingIfNeeded: flags))
    }

    /// `00-TRACE-PARENT-FLAGS`.
    public var text: String {
        "00-\(Self.hex(trace.high, 16))\(Self.hex(trace.low, 16))-\(Self.hex(parent, 16))"
            + "-\(Self.hex(UInt64(flags), 2))"
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        digits.reduce(UInt64?.some(0)) { value, digit in
            guard let value else { return nil }
            switch digit {
            case 0x30...0x39: return value << 4 | UInt64(digit - 0x30)
            case 0x61...0x66: return value << 4 | UInt64(digit - 0x61 + 10)
            default: return nil
            }
        }
    }

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }
}
