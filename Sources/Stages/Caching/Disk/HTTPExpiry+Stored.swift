internal import ImageModel

extension HTTPExpiry {
    /// As it is stored: four numbers with a space between, as in `1700000000000 60000 0 0`.
    var storedText: String { "\(born) \(freshFor) \(staleFor) \(errorFor)" }

    /// Reads what was stored; `nil` for what this program never writes.
    init?(storedText text: String) {
        guard text.utf8.count <= Self.storedBytesMax else { return nil }
        let numbers = text.split(separator: " ").map { Int64($0) }
        guard numbers.count == 4, let born = numbers[0], let fresh = numbers[1],
            let stale = numbers[2], let error = numbers[3]
        else { return nil }
        self.init(born: born, freshFor: fresh, staleFor: stale, errorFor: error)
        guard storedText == text else { return nil }
    }

    /// No stored text is longer.
    static let storedBytesMax = 80
}
