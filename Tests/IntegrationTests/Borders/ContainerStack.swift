/// All five kinds, each in its own container, and clients.
final class ContainerStack {
    let place: ContainerPlace
    private var containers: [String: Container] = [:]

    /// Starts the workers, then the coordinator, and waits until all are ready.
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

    /// Starts a load from a client that can only access `front/` and `results/`.
    func startGet(_ arguments: [String]) throws -> CommandLineRun {
        let endpoint = "ipc://\(place.runtimeDirectory)/front/front.sock"
        let run = place.run(["get", "--endpoint", endpoint] + arguments, as: .client)
        guard let run else { throw StackFailure("a client cannot be started") }
        return run
    }

    /// The same, to completion.
    func get(_ arguments: [String]) throws -> CommandLineEnd { try startGet(arguments).end() }

    /// Polls the health in the container of a kind until it has this status.
    func awaitHealth(_ kind: String, _ status: Int32) throws {
        try pollUntil("health \(status) of \(kind)", log: try self[kind].logFile) {
            try self[kind].run(["health"]).exitStatus == status
        }
    }

    /// Shuts down the container of a kind and starts the next one.
    func replace(_ layout: ContainerLayout) throws {
        let end = try self[layout.name].stop()
        guard end == "exit 0" else { throw StackFailure("\(layout.name): \(end)") }
        try start(layout)
    }

    /// Starts a new container for a kind whose container was stopped.
    func start(_ layout: ContainerLayout) throws {
        let next = try place.serve(layout)
        containers[layout.name] = next
        try next.awaitReady()
    }

    /// Shuts down all containers, the coordinator first. Returns how process 1 of each ended.
    func stop() throws -> [String: String] {
        var ends: [String: String] = [:]
        for layout in ContainerLayout.served { ends[layout.name] = try self[layout.name].stop() }
        containers = [:]
        return ends
    }
}
