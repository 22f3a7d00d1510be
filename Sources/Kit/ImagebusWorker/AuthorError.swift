import ImageModel
import Observability
import StageContract

/// What a function of an author threw, as the caller gets it.
enum AuthorError: Error, Hashable {
    /// What it was given says nothing that it can do.
    case invalid(String)
    /// It says itself what the caller gets.
    case error(ImageError)
    /// It did not foresee that: what it threw, and the name of its type.
    case unforeseen(String, type: String)

    /// Sorts what was thrown.
    init(_ thrown: any Error) {
        self =
            switch thrown {
            case let known as AuthorError: known
            case let invalid as InvalidInput: .invalid(invalid.description)
            case let error as ImageError: .error(error)
            case let failure as Failure: Self.named(failure)
            case is CancellationError: .error(.nobodyWaits)
            default: .unforeseen("\(thrown)", type: "\(type(of: thrown))")
            }
    }

    private static func named(_ failure: Failure) -> AuthorError {
        let domain = failure.domain.utf8
        guard (1...ForeignFailure.domainBytesMax).contains(domain.count), !domain.contains(0)
        else { return .unforeseen("a failure without a domain: \(failure)", type: "Failure") }
        var error = ImageError(.foreignFailure, failure.message)
        error.foreign = ForeignFailure(
            domain: failure.domain, code: failure.code, blocks: failure.blocks)
        return .error(error)
    }

    /// The error that travels. What was not foreseen is told by its type alone, since its text may
    /// say more than strangers are to know; the log of the worker has it.
    func imageError(_ log: Log, invalid: (String) -> ImageError) -> ImageError {
        switch self {
        case .invalid(let sentence): return invalid(sentence)
        case .error(let error): return error
        case .unforeseen(let text, let type):
            log.error("the work failed", ["type": .string(type), "error": .string(text)])
            return ImageError(
                .internalError, "a foreign worker failed (\(type)); its log says more")
        }
    }
}

extension ImageError {
    /// The work was stopped.
    static var nobodyWaits: ImageError { ImageError(.cancelled, "nobody wants it any more") }
    /// The time of a job was over.
    static var tookTooLong: ImageError {
        ImageError(.deadlineExceeded, "the worker took too long")
    }
    /// A job that is none for an extension of that kind.
    static func does(_ what: String) -> ImageError {
        ImageError(.invalidRequest, "this worker \(what), and nothing else")
    }
}

/// A failure in a domain of the author's own: the caller gets domain, code and sentence as they
/// are.
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whose numbers these are, such as `PhotosErrorDomain`: 1 to 128 bytes of UTF-8, no zero.
    public var domain: String
    /// Which failure of the domain.
    public var code: Int64
    /// One sentence for people, of which 1,024 bytes travel.
    public var message: String
    /// Whether the URL is not asked again for a while.
    public var blocks: Bool

    /// Names a failure.
    public init(domain: String, code: Int64, _ message: String, blocks: Bool = false) {
        (self.domain, self.code) = (domain, code)
        (self.message, self.blocks) = (message, blocks)
    }

    /// `PhotosErrorDomain (10001): no such image`
    public var description: String { "\(domain) (\(code)): \(message)" }
}

/// What a function was given says nothing that it can do: a corrupt image, a parameter that is no
/// number. Of a coder the caller gets `badImageData`, of a transformer `stepFailed`, with the
/// sentence.
public struct InvalidInput: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let description: String

    /// Takes a sentence, or the end of one: `it ends early`.
    public init(_ sentence: String) { description = sentence }
}

/// Whether anybody still waits for the work. A function looks now and then, some hundred times a
/// second: half a second after a cancel its process ends otherwise.
public struct Cancellation: Sendable {
    private let flag: CancellationFlag

    init(_ flag: CancellationFlag) { self.flag = flag }

    /// Whether nobody does.
    public var isCancelled: Bool { flag.isCancelled }

    /// Throws where nobody does; let it through.
    public func check() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }
}
