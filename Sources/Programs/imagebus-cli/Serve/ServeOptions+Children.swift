import Glibc
import Linux
import Messages
import Observability
import StackAccess
import Supervision

extension ServeOptions {
    /// The same without the gateway that is told nothing, where the configuration has others.
    var withoutGateway: ServeOptions {
        var options = self
        options.gateway = nil
        return options
    }

    /// The children of this stack, the coordinator first. `secretFile` is the coordinator's,
    /// `pools` are those of the configuration, `listener` is the gateway's, and `listeners` are
    /// those of the configuration.
    func children(
        programs directory: String, secretFile: String? = nil, pools: [WorkerPool] = [],
        listener: Int32? = nil, listeners: [(arguments: [String], socket: Int32?)] = []
    ) -> [ChildSpecification] {
        let further = pools.filter { !$0.isBuiltIn }
        let own = further.filter { $0.trust == .own && (only == nil || only == .stack($0.kind)) }
        let places =
            kinds.map { self.pools.own ?? WorkerPool($0) }
            + own.flatMap { Array(repeating: $0, count: $0.workers) }
        let stack = places.map { pool in
            let kind = ProcessKind.stack(pool.kind)
            return ChildSpecification(
                kind: kind, pool: pool.name,
                program: "\(directory)/\(ChildSpecification.programName(kind))",
                arguments: ["--runtime-dir", runtimeDirectory] + log.arguments
                    + arguments(of: pool.kind, secretFile: secretFile)
                    + Self.place(of: pool, among: further)
                    + self.pools.inputs.flatMap { ["--input-pool", $0.text] })
        }
        let front = gateway.map { gateway in
            ChildSpecification(
                kind: .gateway,
                program: "\(directory)/\(ChildSpecification.programName(.gateway))",
                arguments: ["--runtime-dir", runtimeDirectory] + log.arguments
                    + ["--listen", gateway.place.text] + gateway.arguments,
                listener: listener, environment: gateway.secrets)
        }
        let fronts = listeners.map { listener in
            ChildSpecification(
                kind: .gateway,
                program: "\(directory)/\(ChildSpecification.programName(.gateway))",
                arguments: ["--runtime-dir", runtimeDirectory] + log.arguments + listener.arguments,
                listener: listener.socket)
        }
        let foreign = commandPools(pools).flatMap { pool in
            Array(
                repeating: ChildSpecification(foreign: pool, runtimeDirectory: runtimeDirectory),
                count: pool.workers
            ).compactMap { $0 }
        }
        return stack + foreign + (front.map { [$0] } ?? []) + fronts
    }

    /// The pools whose `command` this stack runs: none if it serves one kind alone, as a user of
    /// its own.
    private func commandPools(_ pools: [WorkerPool]) -> [WorkerPool] {
        pools.filter { only == nil && !$0.isBuiltIn && $0.command != nil }
    }

    /// One line for each `command` that this stack is to run and cannot.
    func commandFaults(in pools: [WorkerPool]) -> [String] {
        commandPools(pools).compactMap { pool in
            guard let program = pool.command?.first, !Self.isExecutable(program) else { return nil }
            let place = "\(configurationFile ?? ""): pools.\(pool.name).command"
            return "\(place): \(program) does not exist or is not executable"
        }
    }

    /// Whether this user can run the file at a path.
    private static func isExecutable(_ path: String) -> Bool {
        access(path, X_OK) == 0 && (try? FileDescriptor.openDirectory(path)) == nil
    }

    /// Its pool, where not every stack has it, and the pools whose segments it reads besides those
    /// of every stack.
    private static func place(of pool: WorkerPool, among pools: [WorkerPool]) -> [String] {
        let inputs = pools.filter { other in
            switch pool.kind {
            case .decode: other.kind == .download || other.kind == .cache
            case .transform: other.kind == .decode || other.isForeignTransformer
            case .coordinator, .download, .cache: false
            }
        }
        return (pool.isBuiltIn ? [] : ["--pool", pool.name.text])
            + inputs.flatMap { ["--input-pool", $0.name.text] }
    }

    private func arguments(of kind: WorkerKind, secretFile: String?) -> [String] {
        switch kind {
        case .coordinator:
            option("--secret-file", secretFile) + option("--config", configurationFile)
                + option("--vector", drawers > 0 ? drawers : nil)
                + option(
                    "--watermark-root",
                    hasWatermark ? ServedWatermark.root(in: runtimeDirectory) : nil)
                + coordinator.arguments + (only == nil ? [] : ["--keeps-workers"])
                + (gateway?.grants ?? [])
                + (requestLogging == .misses ? [] : ["--log-requests", requestLogging.rawValue])
        case .download: network.arguments + downloadSettings.arguments
        case .cache:
            option("--cache-dir", cacheDirectory) + cache.arguments
                + option("--memory-files", memoryFiles) + (yieldsCache ? ["--yield-cache"] : [])
        case .decode, .transform: []
        }
    }

    /// Whether a gateway of this stack may have a watermark that is a file.
    private var hasWatermark: Bool {
        only == nil && (gateway?.watermark != nil || configurationFile != nil)
    }

    private func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
        value.map { [name, $0.description] } ?? []
    }

    /// Where the programs lie: `IMAGEBUS_PROGRAMS`, else beside this one.
    static func programsDirectory(environment: [String: String]) throws(Errno) -> String {
        if let named = environment["IMAGEBUS_PROGRAMS"], !named.isEmpty { return named }
        let path = try CurrentProcess.executablePath()
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
