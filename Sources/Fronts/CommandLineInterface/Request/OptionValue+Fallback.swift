package import ImageModel

extension OptionValue {
    /// What `Fallback` takes; whether the URL may be loaded is for the coordinator to say.
    package static func fallback(_ text: String) throws(UsageError) -> Fallback {
        guard let fallback = Fallback(text) else {
            throw UsageError(
                "a fallback is none, a colour such as #AARRGGBB or #RRGGBB, or an http or https "
                    + "URL")
        }
        return fallback
    }
}
