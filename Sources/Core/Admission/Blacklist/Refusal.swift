import ImageModel

/// Why loads of a source are refused.
struct Refusal: Hashable, Sendable {
    let error: ErrorCode
    /// The origin's status, where that was the error.
    let httpStatus: String?
    /// Only loads that do this are refused; of the header: all loads.
    let operation: SourceOperation

    init(_ error: ImageError, of operation: SourceOperation = .header) {
        (self.error, self.operation) = (error.code, operation)
        httpStatus = error.details["httpStatus"].flatMap { UInt16($0) }.map { String($0) }
    }

    /// What a load is told that is refused for it so many seconds later.
    func told(after seconds: Int) -> ImageError {
        let reason = error.rule.name
        var told = ImageError(
            .blacklisted,
            "Image url is blacklisted\(operation.restriction): "
                + "it failed before with \(reason); the option retry-failed asks again",
            details: ["reason": reason, "age": String(seconds)])
        told.details["httpStatus"] = httpStatus
        return told
    }
}

extension SourceOperation {
    /// Which loads are refused, behind "is blacklisted".
    fileprivate var restriction: String {
        switch self {
        case .header: ""
        case .still: " where its pixels are needed"
        case .frame(let number): " where its frame \(number) is needed"
        case .allFrames: " where all its frames are needed"
        }
    }
}
