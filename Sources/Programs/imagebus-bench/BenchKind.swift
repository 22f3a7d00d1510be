import ImageModel
import Linux

/// One kind of measurement: `imagebus bench NAME`. A new one is a type that is put into `all`.
protocol BenchKind: Sendable {
    /// On the command line and in the report.
    static var name: String { get }
    /// What is measured, for the list of kinds.
    static var summary: String { get }
    /// Loads at a time where nothing is said.
    static var concurrency: Int { get }
    /// Seconds where nothing is said.
    static var seconds: Int { get }
    /// Whether it takes the options of `get` that say what is loaded, and how.
    static var takesRequest: Bool { get }
    /// Processes that decode, and as many that transform, in a stack of its own.
    static var workers: Int { get }
    /// Whether it can end after a number of loads.
    static var takesRequestsMax: Bool { get }

    init(_ setting: BenchSetting)

    /// Measures, until the time is over or `setting.hasStopped`.
    func run() async throws(ImageError) -> any BenchReport
}

extension BenchKind {
    static var takesRequest: Bool { true }
    static var takesRequestsMax: Bool { false }
    /// One a core, as `serve` has them.
    static var workers: Int { CurrentProcess.processorCount }
}

/// What a measurement found; its JSON is one object with the names of SEMANTICS §15.5.
protocol BenchReport: Encodable, Sendable {
    /// For people.
    var text: String { get }
}

/// The kinds that there are.
enum BenchKinds {
    static let all: [any BenchKind.Type] = [
        HitBench.self, ColdBench.self, StormBench.self, CancelBench.self, FloodBench.self,
        MixedBench.self, PlayBench.self,
    ]
    static var names: String { all.map { $0.name }.joined(separator: ", ") }
}
