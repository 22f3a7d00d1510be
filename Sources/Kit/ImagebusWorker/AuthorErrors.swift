import Model
import ProcessRuntime

extension ImageError {
    /// Creates the error to report for an error thrown by a plug-in author's function; `invalid`
    /// creates the one for ``InvalidInput``.
    ///
    /// An unexpected error is reported by its type only, because its text may contain information
    /// that untrusted clients must not see; it is written to the worker's log.
    init(of thrown: any Error, _ log: Log, invalid: (String) -> ImageError) {
        switch thrown {
        case let invalidInput as InvalidInput: self = invalid(invalidInput.description)
        case let error as ImageError: self = error
        case is CancellationError: self = .nobodyWaits
        case let failure as Failure:
            let domain = failure.domain.utf8
            guard (1...ExternalFailure.domainBytesMax).contains(domain.count), !domain.contains(0)
            else {
                self.init(unforeseen: "a failure without a domain: \(failure)", "Failure", log)
                return
            }
            self.init(.foreignFailure, failure.message)
            external = ExternalFailure(
                domain: failure.domain, code: failure.code, blocks: failure.blocks)
        default: self.init(unforeseen: "\(thrown)", "\(type(of: thrown))", log)
        }
    }

    private init(unforeseen text: String, _ type: String, _ log: Log) {
        log.error("plug-in failed", ["type": .string(type), "error": .string(text)])
        self.init(.internalError, "a plug-in worker failed (\(type)); see its log")
    }

    /// The error of canceled work.
    static var nobodyWaits: ImageError { ImageError(.cancelled, "the result is no longer wanted") }
    /// The error of a job that exceeded its deadline.
    static var tookTooLong: ImageError {
        ImageError(.deadlineExceeded, "the worker took too long")
    }
    /// The error for a job that this kind of plug-in does not handle.
    static func does(_ what: String) -> ImageError {
        ImageError(.invalidRequest, "this worker only \(what)")
    }
}

/// An error in a domain of the author's own: domain, code and message are passed to the caller
/// unchanged.
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error domain, such as `PhotosErrorDomain`: 1 to 128 bytes of UTF-8 without NUL.
    public var domain: String
    /// The error code within the domain.
    public var code: Int64
    /// A sentence for people, truncated to 1,024 bytes.
    public var message: String
    /// Whether the URL is added to the failure cache.
    public var blocks: Bool

    /// Creates an error.
    public init(domain: String, code: Int64, _ message: String, blocks: Bool = false) {
        (self.domain, self.code) = (domain, code)
        (self.message, self.blocks) = (message, blocks)
    }

    /// `PhotosErrorDomain (10001): no such image`
    public var description: String { "\(domain) (\(code)): \(message)" }
}

/// Reports invalid input, such as a corrupt image or a parameter that is not a number. The caller
/// receives `badImageData` from a coder and `stepFailed` from a transformer, with the message.
public struct InvalidInput: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with the input.
    public let description: String

    /// Creates an error from a sentence or its end, such as `it ends early`.
    public init(_ sentence: String) { description = sentence }
}

/// Reports whether the work was canceled. Check it regularly, about a hundred times per second: if
/// a function is still running half a second after cancellation, its process exits.
public struct Cancellation: Sendable {
    private let flag: CancellationFlag

    init(_ flag: CancellationFlag) { self.flag = flag }

    /// Whether the work was canceled.
    public var isCancelled: Bool { flag.isCancelled }

    /// Throws if the work was canceled. Let the error propagate.
    public func check() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }
}
