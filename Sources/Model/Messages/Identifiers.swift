/// Identifies a request of a client; 128 random bits chosen by the client.
public struct Token: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Creates a token from random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// Identifies a set of requests that can be canceled together.
public struct GroupID: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Creates a group ID from random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// Identifies one run of a process: random, new at every start. Also part of the names of its
/// segments.
public struct Incarnation: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Creates an incarnation from random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// Identifies one run of the coordinator; the scope of job and block references (PROTOCOL §5).
public struct Epoch: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Creates an epoch from random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// Identifies a job within an epoch; never reused.
public struct JobID: IssuedNumber {
    /// A counter that starts at 1.
    public let value: UInt64

    /// Creates an ID from a counter.
    public init(_ value: UInt64) { self.value = value }
}

/// Identifies a block of a producer process; from a single counter, never reused, never 0.
public struct BlockID: Hashable, Sendable {
    /// A counter that starts at 1.
    public let value: UInt64

    /// Creates an ID from a counter.
    public init(_ value: UInt64) { self.value = value }
}

/// 128 random bits: tokens, groups, incarnations and epochs.
public struct Identifier128: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    /// Creates an identifier from two random words.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The number of bytes on the wire.
    public static let byteCount = 16

    /// Decodes the 16 bytes on the wire; returns `nil` for another count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ part: some Sequence<UInt8>) -> UInt64 {
            part.reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8)))
    }

    /// Parses 32 hexadecimal digits; returns `nil` for other text.
    public init?(hex text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32, digits.allSatisfy({ $0.hexDigitValue != nil }),
            let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The 16 bytes on the wire.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }

    /// The identifier as 32 hexadecimal digits.
    public var hex: String {
        String(unsafeUninitializedCapacity: 32) { digits in
            Self.write(high, 16, to: digits, at: 0)
            Self.write(low, 16, to: digits, at: 16)
            return 32
        }
    }

    /// The first 8 hexadecimal digits, which logs and status show for a token.
    public var short: String {
        String(unsafeUninitializedCapacity: 8) { digits in
            Self.write(high, 8, to: digits, at: 0)
            return 8
        }
    }

    /// Writes the first hexadecimal digits of a word, at most 16.
    private static func write(
        _ word: UInt64, _ count: Int, to digits: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) {
        for index in 0..<count {
            let digit = UInt8(word >> UInt64(60 - 4 * index) & 0xF)
            digits[start + index] = digit + (digit < 10 ? 0x30 : 0x61 - 10)
        }
    }
}

/// A number issued by the coordinator, one after another.
public protocol IssuedNumber: Hashable, Comparable, Sendable {
    /// The counter.
    var value: UInt64 { get }
}

extension IssuedNumber {
    /// Compares the counters; earlier numbers are smaller.
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

/// Identifies a connection of a worker, from its `Hello` to its end; never reused.
public struct WorkerID: IssuedNumber {
    /// A counter that starts at 1.
    public let value: UInt64

    /// Creates an ID from a counter.
    public init(_ value: UInt64) { self.value = value }

    /// The coordinator itself, as the producer of uploaded bytes.
    public static let coordinator = WorkerID(0)
}

/// Identifies a connection of a client, from its `Hello` to its end; never reused.
public struct ClientID: IssuedNumber {
    /// A counter that starts at 1.
    public let value: UInt64

    /// Creates an ID from a counter.
    public init(_ value: UInt64) { self.value = value }
}

/// The logging context of a request in all processes. It is sent with the load and with every job
/// started for it; work shared by several requests has the context of the first one.
public struct LogContext: Hashable, Sendable {
    /// The trace of the caller.
    public var trace: TraceContext?
    /// The ID of the HTTP request.
    public var requestID: RequestID?
    /// Whether the request is only a health check, which is not logged.
    public var isProbe: Bool

    /// Creates a context; empty by default.
    public init(trace: TraceContext? = nil, requestID: RequestID? = nil, isProbe: Bool = false) {
        (self.trace, self.requestID, self.isProbe) = (trace, requestID, isProbe)
    }

    /// Whether nothing is set.
    public var isEmpty: Bool { trace == nil && requestID == nil && !isProbe }

    /// The names and values of the fields to add to a log line.
    public var fields: [(name: String, text: String)] {
        var fields: [(name: String, text: String)] = []
        if let requestID { fields.append(("requestId", requestID.text)) }
        if let trace { fields.append(("trace", trace.trace.hex)) }
        return fields
    }

    /// Whether each process logs its part of the work at level info.
    public var isSampled: Bool { !isProbe && trace?.isSampled == true }
}

/// Identifies an HTTP request in the logs of all processes: the `X-Request-Id` sent by a proxy, or
/// one generated by the gateway. It is sent with every job performed for the request.
public struct RequestID: Hashable, Sendable {
    /// 1 to 128 letters, digits and characters of `-_.~:/+=@`.
    public let text: String

    /// The maximum number of bytes of the text.
    public static let bytesMax = 128

    /// Validates a text; returns `nil` if it is invalid.
    public init?(text: String) {
        guard (1...Self.bytesMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isLetterOrDigit || "-_.~:/+=@".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Creates an ID from the 32 hexadecimal digits of a number.
    public init(_ number: Identifier128) { text = number.hex }
}

/// The position of a request in the trace of its caller: W3C Trace Context, `traceparent` version
/// 00. It is sent with every job performed for the request and appears in the logs of all
/// processes.
public struct TraceContext: Hashable, Sendable {
    /// The trace ID; not 0.
    public let trace: Identifier128
    /// The caller's span; not 0.
    public let parent: UInt64
    /// The trace flags; bit 0: the caller records the trace.
    public let flags: UInt8

    /// Whether the caller records the trace.
    public var isSampled: Bool { flags & 1 == 1 }

    /// The number of bytes of the text.
    public static let textBytes = 55

    /// Creates a context; returns `nil` if trace or parent is 0.
    public init?(trace: Identifier128, parent: UInt64, flags: UInt8) {
        guard trace != Identifier128(high: 0, low: 0), parent != 0 else { return nil }
        self.trace = trace
        self.parent = parent
        self.flags = flags
    }

    /// Parses `00-TRACE-PARENT-FLAGS` with lowercase hexadecimal digits; later versions may be
    /// longer (Trace Context §3.2.4). Returns `nil` for anything else; the recipient then starts
    /// without a trace.
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

    /// The text `00-TRACE-PARENT-FLAGS`.
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
