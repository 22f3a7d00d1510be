/// Text of a file as it may be passed on.
enum FactText {
    /// Valid UTF-8 without blanks around it, cut off between two characters; `nil` where
    /// nothing is left.
    static func text(_ bytes: some Collection<UInt8>, bytesMax: Int) -> String? {
        guard let whole = String(validating: bytes, as: UTF8.self) else { return nil }
        var scalars = Substring(whole).unicodeScalars
        while let first = scalars.first, isBlank(first) { scalars.removeFirst() }
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        var (text, count) = (String(), 0)
        for character in Substring(scalars) {
            count += character.utf8.count
            guard count <= bytesMax else { break }
            text.append(character)
        }
        return text.isEmpty ? nil : text
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20
    }
}
