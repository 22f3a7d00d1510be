/// What a field of a line holds. Literals and interpolated strings need no case to be named.
public enum LogValue: Hashable, Sendable {
    /// A text; may hold anything, the line escapes it.
    case string(String)
    /// A number.
    case integer(Int64)
    /// A number with a fraction.
    case double(Double)
    /// So many microseconds, written as milliseconds.
    case milliseconds(Int64)
    /// Yes or no.
    case bool(Bool)

    /// Any whole number.
    public init(_ number: some BinaryInteger) {
        self = .integer(Int64(clamping: number))
    }

    /// Milliseconds, to the microsecond. What is no such number of 300 years is written as it is.
    public init(milliseconds: Double) {
        let microseconds = (milliseconds * 1_000).rounded()
        self = Int64(exactly: microseconds).map { .milliseconds($0) } ?? .double(milliseconds)
    }

    /// Anything that can say what it is.
    public init(describing value: some CustomStringConvertible) {
        self = .string(value.description)
    }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Yes or no.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}
