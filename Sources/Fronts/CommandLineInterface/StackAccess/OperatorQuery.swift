package import Imagebus
import Linux
package import Model
import ProcessRuntime
package import Reporting
import Supervision
import Synchronization

/// Sends queries to a stack's coordinator through `admin/`.
package enum OperatorQuery {
    /// How long a command waits for an answer, in milliseconds.
    package static let answerMilliseconds = 5_000

    /// Returns the answer to one or more questions; the client stays connected until the last
    /// answer has arrived.
    ///
    /// Throws `unavailable` if there is no answer in time. For long-running operations,
    /// `answerMilliseconds` is the timeout, which restarts with each `activity`.
    package static func ask<Answer: Sendable>(
        _ options: OperatorOptions, milliseconds: Int = answerMilliseconds,
        answerMilliseconds: Int? = nil, activity: QueryActivity? = nil,
        _ question: @escaping @Sendable (OperatorClient) async throws(ImageError) -> Answer
    ) throws(ImageError) -> Answer {
        let route = try options.route()
        let client = try route.client(asOperator: true, connectMilliseconds: milliseconds)
        defer { client.end() }
        let limit = answerMilliseconds ?? milliseconds
        let operators = OperatorClient(client)
        if let value = try answer(of: operators, within: limit, activity, question) {
            return value
        }
        throw ImageError(
            .unavailable,
            "the coordinator at \(route.paths.adminEndpoint) did not answer within \(limit) ms")
    }

    /// Returns the answer to one question; `nil` on timeout, measured from the last `activity`.
    package static func answer<Answer: Sendable>(
        of client: OperatorClient, within milliseconds: Int, _ activity: QueryActivity? = nil,
        _ question: @escaping @Sendable (OperatorClient) async throws(ImageError) -> Answer
    ) throws(ImageError) -> Answer? {
        let completion = try Completion<Answer>()
        completion.start { () throws(ImageError) in try await question(client) }
        try ImageError.wrap("waiting for an answer failed") { () throws(Errno) in
            var left = milliseconds
            repeat {
                _ = try ReadinessPoll.wait([completion.number], milliseconds: left)
                left = milliseconds - (activity?.idleMilliseconds ?? milliseconds)
            } while completion.value == nil && left > 0
        }
        return try completion.value?.get()
    }
}

/// The answer of a command in both of its forms.
package struct OperatorAnswer {
    private let json: JSONObject
    private let text: String

    package init(_ json: JSONObject, _ text: String) { (self.json, self.text) = (json, text) }

    /// Prints the answer of a command. Returns the exit status.
    package func print(_ command: String, asJSON: Bool) throws -> Int32 {
        Terminal.finish(command, asJSON ? try JSONText.text(json) : text)
    }
}

/// The stack that an operator's command queries, and the output format.
package struct OperatorOptions: Hashable {
    package var endpoint: String?
    package var runtimeDirectory: RuntimePlace
    package var printsJSON: Bool

    /// The options that all these commands share.
    package static let definitions: [OptionDefinition] = [
        OptionDefinition("json", "print one JSON object"), .endpoint, .runtimeDirectory,
        OptionDefinition("config", value: "FILE", visibility: .later),
    ]

    package init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        endpoint = read.last("endpoint")
        runtimeDirectory = try RuntimePlace(read, environment: environment)
        printsJSON = read.isSet("json")
    }

    /// Reads the options of a command that takes no operands.
    package init(
        withoutOperands read: ReadOptions, environment: [String: String]
    ) throws(UsageError) {
        try read.checkNoOperands()
        try self.init(read, environment: environment)
    }

    /// Returns the route to the stack. Throws `unavailable` if none is running.
    package func route() throws(ImageError) -> StackRoute {
        guard let route = try runningRoute() else {
            throw ImageError(
                .unavailable,
                advising: "no stack runs in \(runtimeDirectory.path): start one with imagebus "
                    + "serve, or select another with --runtime-dir")
        }
        return route
    }

    /// Returns the route to the stack; `nil` if none is running.
    package func runningRoute() throws(ImageError) -> StackRoute? {
        if let endpoint { return try StackRoute(endpoint: endpoint) }
        return try StackRoute(in: runtimeDirectory, asOperator: true)
    }

    /// Returns the runtime directory, whether or not a coordinator is running there.
    package func root() throws(ImageError) -> String {
        if let endpoint { return try StackRoute(endpoint: endpoint).paths.root }
        _ = try runtimeDirectory.servers(at: "admin")
        return runtimeDirectory.path
    }
}

/// When a long-running question last made progress. Can be used from any thread.
package final class QueryActivity: Sendable {
    private let last = Mutex(MonotonicClock.now())

    /// Starts measuring now.
    package init() {}

    /// Records progress.
    package func note() {
        let now = MonotonicClock.now()
        last.withLock { $0 = now }
    }

    /// The time since the last progress, in milliseconds.
    package var idleMilliseconds: Int {
        let now = MonotonicClock.now()
        return last.withLock { Int(clamping: (max(now, $0) - $0) / 1_000_000) }
    }
}
