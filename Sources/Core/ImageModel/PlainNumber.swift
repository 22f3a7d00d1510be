/// Numbers as people write them in options and files.
public enum PlainNumber {
    /// Digits, with a minus before them at most: no blanks, no `+`; `nil` for anything else.
    public static func integer(_ text: some StringProtocol) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// A whole number, also with K, M, G or T behind it, each `unit` times the one before; `nil`
    /// for anything else, and for more than there are.
    package static func scaled(_ text: some StringProtocol, by unit: Int) -> Int? {
        let powers: [Character: Int] = ["K": 1, "M": 2, "G": 3, "T": 4]
        let power = text.last.flatMap { powers[Character($0.uppercased())] } ?? 0
        guard var value = integer(power == 0 ? text[...] : text.dropLast()) else { return nil }
        for _ in 0..<power {
            let (more, overflow) = value.multipliedReportingOverflow(by: unit)
            guard !overflow else { return nil }
            value = more
        }
        return value
    }

    /// A decimal number; no infinity, no hexadecimal digits; `nil` for anything else.
    public static func decimal(_ text: String) -> Double? {
        let allowed = Set("0123456789.-+eE".utf8)
        guard text.utf8.allSatisfy(allowed.contains), let number = Double(text), number.isFinite
        else { return nil }
        return number
    }
}
