import ImageModel

extension OptionValue {
    /// `none`, a colour such as `#80FF0000` or `#FF0000`, or a URL, which the coordinator looks at.
    static func fallback(_ text: String) throws(UsageError) -> Fallback {
        if text == "none" { return .none }
        guard text.hasPrefix("#") else {
            guard !text.isEmpty else { throw UsageError("there is neither a URL nor a colour") }
            return .url(text)
        }
        let digits = text.dropFirst()
        let isHex = digits.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
        }
        guard isHex, digits.utf8.count == 6 || digits.utf8.count == 8,
            let number = UInt32(digits, radix: 16)
        else { throw UsageError("'\(text)' is no colour, such as #AARRGGBB or #RRGGBB") }
        return .colour(Colour(argb: digits.utf8.count == 6 ? 0xFF00_0000 | number : number))
    }
}
