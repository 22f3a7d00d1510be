/// What a field of a line holds. Literals and interpolated strings need no case to be named.
public enum LogValue: Hashable, Sendable {
    /// A text; may hold anything, the line escapes it.
    case string(String)
    /// A number.
    case integer(Int64)
    /// A number with a fraction, for example milliseconds.
    case double(Double)
    /// Yes or no.
    case bool(Bool)

    /// Any whole number.
    public init(_ number: some BinaryInteger) {
        self = .integer(Int64(clamping: number))
    }

    /// Milliseconds, to the microsecond.
    public init(milliseconds: Double) {
        self = .double((milliseconds * 1_000).rounded() / 1_000)
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
