import TestKit

/// All five kinds, each in a container of its own, and clients beside them.
final class ContainerStack {
    let place: ContainerPlace
    private var containers: [String: Container] = [:]

    /// Starts the workers first, then the coordinator, and waits for all.
    init() throws {
        place = try ContainerPlace()
        for layout in ContainerLayout.served.reversed() {
            containers[layout.name] = try place.serve(layout)
        }
        for container in containers.values { try container.awaitReady() }
    }

    subscript(kind: String) -> Container {
        get throws {
            guard let container = containers[kind] else { throw StackFailure("no \(kind) here") }
            return container
        }
    }

    /// Starts a load by a client that sees nothing but `front/` and `results/`.
    func startGet(_ arguments: [String]) throws -> CommandLineRun {
        let endpoint = "ipc://\(place.runtimeDirectory)/front/front.sock"
        let run = place.run(["get", "--endpoint", endpoint] + arguments, as: .client)
        guard let run else { throw StackFailure("a client cannot be started") }
        return run
    }

    /// The same to its end.
    func get(_ arguments: [String]) throws -> CommandLineEnd { try startGet(arguments).end() }

    /// Asks in the container of a kind until its health is as wanted.
    func awaitHealth(_ kind: String, _ status: Int32) throws {
        let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
        var last: CommandLineEnd?
        var pause = PollingPause()
        while ContinuousClock.now < deadline {
            let end = try self[kind].run(["health"])
            if end.exitStatus == status { return }
            last = end
            pause.wait()
        }
        throw StackFailure(
            "the health of \(kind) is \(last.map { "\($0)" } ?? "unknown")",
            log: try self[kind].logFile)
    }

    /// Ends the container of a kind in order and starts the next one.
    func replace(_ layout: ContainerLayout) throws {
        let end = try self[layout.name].stop()
        guard end == "exit 0" else { throw StackFailure("\(layout.name): \(end)") }
        try start(layout)
    }

    /// Starts the container of a kind whose last one was stopped.
    func start(_ layout: ContainerLayout) throws {
        let next = try place.serve(layout)
        containers[layout.name] = next
        try next.awaitReady()
    }

    /// Ends all in order, the coordinator first; how process 1 of each ended.
    func stop() throws -> [String: String] {
        var ends: [String: String] = [:]
        for layout in ContainerLayout.served { ends[layout.name] = try self[layout.name].stop() }
        containers = [:]
        return ends
    }
}
