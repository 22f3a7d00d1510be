import Imagebus
import Linux
import MicroHTTPD
import Model
import ProcessRuntime
import Sandbox
import WebFront

/// Receives HTTP requests and loads images from a stack.
enum GatewayProgram {
    static func run(_ words: [String]) -> Int32 {
        if ["--help", "-h"].contains(words.first) {
            ProgramOutput.write(GatewayHelp.text)
            return ProgramExit.success
        }
        if words.first == "url" { return URLProgram.run(Array(words.dropFirst())) }
        do {
            let options = try GatewayOptions(words: words)
            var bootstrap = try Bootstrap(
                program: "imagebus-gateway", options.programArguments, signals: [.hangUp],
                beats: true)
            return try serve(options, &bootstrap)
        } catch {
            let isServed = GatewayOptions.areServed(words)
            Bootstrap.complain(
                "imagebus-gateway", isServed ? GatewaySetting.served("\(error)") : "\(error)")
            return ProgramExit.status(of: error)
        }
    }

    private static func serve(
        _ options: GatewayOptions, _ bootstrap: inout Bootstrap
    ) throws -> Int32 {
        let log = bootstrap.log
        bootstrap.ready.report(.begun, bootstrap.incarnation)
        let limits = limits(options, log)
        let listener = try listener(options)
        let port = listener.port
        let metrics = try Self.socket(options.front.metricsPlace, "--metrics-listen")
        let operators = try Self.socket(options.front.operatorPlace, "--operator-listen")
        // Untrusted clients may only load images, unless uploads are enabled.
        let paths = bootstrap.paths
        let socket = options.front.uploads == nil ? paths.webSocket : paths.frontSocket
        // All files that are opened by name are open, and no thread has been started yet.
        let sandbox = Sandbox.enter(
            .gateway(
                paths: bootstrap.paths, socket: socket,
                files: options.files + (operators == nil ? [] : [paths.webSocket]),
                connections: limits.connections),
            log: log)
        var configuration = ClientConfiguration(
            endpoint: socket, resultsDirectory: paths.resultsDirectory,
            connectTimeoutMilliseconds: coordinatorMilliseconds)
        configuration.front = FrontProcess(
            name: "gateway", restarts: bootstrap.restarts, sandbox: sandbox)
        let client = try ImagebusClient(configuration)
        let front = try WebFront(options.front, client: client, log: log)
        let removing = try removing(options, client, configuration, at: paths.webSocket, log)
        let server = try EventedHTTPServer(
            listener: listener.relinquish(), limits: limits, handler: front)
        var loop = WebFrontLoop(
            front, server, try SignalDescriptor([.terminate, .interrupt, .hangUp]),
            bootstrap.stopSignals,
            side: try [
                metrics.map { try self.metrics($0, options, front, client, log) },
                operators.flatMap { socket in
                    try removing.map { try self.operators(socket, $0, log) }
                },
            ].compactMap { $0 })
        log.info("listening", fields(of: options.place, port))
        if options.answersNobody {
            log.warning(
                options.front.named(
                    "all images are refused: configure signature keys with --keys FILE, or "
                        + "allow unsigned paths with --unsigned"))
        }
        bootstrap.ready.report(.ready, bootstrap.incarnation)
        let isDone = try loop.run { event in
            switch event {
            case .alive: bootstrap.ready.report(.alive, bootstrap.incarnation)
            case .hangUp: reload(options, front, removing, log)
            }
        }
        let ended = front.requests.counters
        let (answered, abandoned) = (LogValue(ended.answeredCount), LogValue(ended.abandoned))
        log.info("ended", ["answered": answered, "abandoned": abandoned])
        return isDone ? ProgramExit.success : ProgramExit.internalError
    }

    /// How long requests wait for a coordinator that is being replaced, in milliseconds.
    private static let coordinatorMilliseconds = 10_000

    /// Returns the socket inherited from a supervisor, which outlives this process, or creates one.
    private static func listener(
        _ options: GatewayOptions
    ) throws(ConfigurationError) -> StreamListener {
        do throws(Errno) {
            if let number = options.listener {
                return try StreamListener(owning: FileDescriptor(owning: number))
            }
        } catch {
            throw ConfigurationError("--listen-fd: not a listening socket (\(error))")
        }
        return try listener(options.place, "--listen")
    }

    private static func listener(
        _ place: ListenPlace, _ option: String
    ) throws(ConfigurationError) -> StreamListener {
        do throws(Errno) {
            switch place {
            case .tcp(let address, let port):
                return try StreamListener(address: address, port: port)
            case .unix(let path):
                return try StreamListener(socketPath: path, mode: ListenPlace.socketMode)
            }
        } catch {
            throw ConfigurationError(
                "cannot listen on \(place.text) (\(error)); pass another address with \(option)")
        }
    }

    /// Returns the socket of an additional listener.
    private static func socket(
        _ place: ListenPlace?, _ option: String
    ) throws(ConfigurationError) -> Int32? {
        guard let place else { return nil }
        return try listener(place, option).relinquish()
    }

    /// Returns the log fields for an address.
    private static func fields(of place: ListenPlace, _ port: UInt16?) -> Log.Fields {
        switch place {
        case .tcp(let address, _): ["address": .string(address), "port": LogValue(port ?? 0)]
        case .unix(let path): ["socket": .string(path)]
        }
    }

    private static func metrics(
        _ socket: Int32, _ options: GatewayOptions, _ front: WebFront, _ client: ImagebusClient,
        _ log: Log
    ) throws -> SideListener {
        let metrics = try MetricsFront(
            client, crossOrigin: options.front.crossOrigin, of: front)
        var limits = HTTPLimits()
        (limits.connections, limits.connectionsPerPeer) = (sideConnections, 0)
        return try side(socket, metrics, limits, "serving metrics", log)
    }

    private static func side(
        _ socket: Int32, _ front: any SideFront, _ limits: HTTPLimits, _ event: String, _ log: Log
    ) throws -> SideListener {
        let server = try EventedHTTPServer(listener: socket, limits: limits, handler: front)
        log.info(event, ["port": LogValue(server.port)])
        return SideListener(front, server)
    }

    /// Returns the front for removals by operators; `nil` if there are no operators. Removals are
    /// permitted on `web/`, even if uploads use `front/`.
    private static func removing(
        _ options: GatewayOptions, _ client: ImagebusClient, _ configuration: ClientConfiguration,
        at web: String, _ log: Log
    ) throws -> OperatorFront? {
        guard let settings = options.front.removals else { return nil }
        guard configuration.endpoint != web else {
            return try OperatorFront(settings, client: client, log: log)
        }
        var own = configuration
        (own.endpoint, own.front) = (web, nil)
        return try OperatorFront(settings, client: ImagebusClient(own), log: log)
    }

    private static func operators(
        _ socket: Int32, _ front: OperatorFront, _ log: Log
    ) throws -> SideListener {
        var limits = HTTPLimits()
        // Clients without a token can hold only some of the connections, and none for long.
        (limits.connections, limits.connectionsPerPeer) = (sideConnections, operatorConnections)
        (limits.headSeconds, limits.idleSeconds) = (operatorSeconds, operatorSeconds)
        limits.bodyBytes = OperatorSettings.bodyBytesMax
        return try side(socket, front, limits, "accepting removals by operators", log)
    }

    /// The maximum number of connections of metrics collectors and status pages, and of operators.
    private static let sideConnections = 256
    /// The maximum number of operator connections per address, and the timeout in seconds for a
    /// request and between requests.
    private static let (operatorConnections, operatorSeconds) = (32, 10)

    /// Returns the limits, with at most as many connections as there are file descriptors.
    private static func limits(_ options: GatewayOptions, _ log: Log) -> HTTPLimits {
        var limits = options.front.limits
        let most = (try? ResourceLimit.current(.descriptors).soft) ?? .max
        let possible = Int(clamping: most) - otherDescriptors
        if possible < limits.connections {
            log.warning(
                "fewer connections than configured; raise the limit of open files",
                ["wanted": LogValue(limits.connections), "possible": LogValue(possible)])
            limits.connections = max(1, possible)
        }
        return limits
    }

    /// The number of descriptors reserved for other purposes.
    private static let otherDescriptors = 512

    /// Reloads all files, completely or not at all.
    private static func reload(
        _ options: GatewayOptions, _ front: WebFront, _ removing: OperatorFront?, _ log: Log
    ) {
        do {
            let new = try options.readAgain()
            front.replace(new.front)
            if let settings = new.front.removals { removing?.replace(settings) }
            log.info("reloaded keys, presets, tokens and the fallback image")
        } catch {
            log.error(
                "keys, presets, tokens and the fallback image not reloaded: invalid files",
                ["reason": .string(options.front.named("\(error)"))])
        }
    }
}

/// The output of this program when it does not serve.
enum ProgramOutput {
    /// Writes a text to standard output; ignores errors.
    static func write(_ text: String) { write(text, to: 1) }

    /// Writes a text to standard error; ignores errors.
    static func complain(_ text: String) { write(text, to: 2) }

    private static func write(_ text: String, to descriptor: Int32) {
        Array(text.utf8).withUnsafeBytes { try? FileDescriptor.writeAll($0, to: descriptor) }
    }
}
