import StageContract

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
