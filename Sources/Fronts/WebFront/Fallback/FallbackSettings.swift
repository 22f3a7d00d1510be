package import ImageModel

/// What is shown in the place of an image that cannot be had, and when.
///
/// It goes through the steps of the image. It is one of the listener's own; one that a profile of
/// the stack names comes before it, and is answered the same way.
package struct FallbackSettings: Hashable, Sendable {
    /// Where it comes from.
    package enum Image: Hashable, Sendable {
        case url(String)
        /// The bytes of a file.
        case bytes([UInt8])
    }

    package var image: Image
    package var causes = Causes.usual

    package init(_ image: Image) { self.image = image }

    /// The failures in whose place it is shown.
    package struct Causes: Hashable, Sendable {
        /// By the status that they would be answered with.
        package var statuses: Set<UInt16> = []
        /// By their names.
        package var codes: Set<ErrorCode> = []

        package init() {}

        /// Whatever the source is the reason of: it is not there, it is no image that is taken, or
        /// its origin fails. What the client does wrong, and a stack that has no time, are told as
        /// they are.
        package static let usual: Causes = {
            var causes = Causes()
            causes.statuses = [404, 410, 415, 422, 502, 504]
            causes.codes = [.invalidDownloadStatusCode]
            return causes
        }()

        /// Words with commas between them: statuses such as `404`, and names of errors such as
        /// `badImageData`; `nil` where one is neither.
        package init?(_ text: String) {
            for word in text.split(separator: ",", omittingEmptySubsequences: false) {
                if let status = UInt16(word), (400...599).contains(status) {
                    statuses.insert(status)
                } else if let code = ErrorCode.allCases.first(where: { "\($0)" == word }) {
                    codes.insert(code)
                } else {
                    return nil
                }
            }
        }

        package func contain(_ error: ImageError) -> Bool {
            codes.contains((error.firstFailure ?? error).code)
                || statuses.contains(FailureStatus(error).status)
        }
    }
}
