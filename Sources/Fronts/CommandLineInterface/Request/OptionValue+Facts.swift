import ImageModel

extension OptionValue {
    /// Facts, such as `exif,blurhash`.
    static func facts(_ text: String) throws(UsageError) -> WantedFacts {
        guard let facts = WantedFacts(text) else {
            throw UsageError("'\(text)' is not \(WantedFacts.expected)")
        }
        return facts
    }
}
