import CommandLineInterface
import Configuration
import ConfigurationFile
import Linux
import Messages
import Observability
import SharedArena
import StackAccess
import Supervision

/// `imagebus serve`: the supervised stack in the foreground.
enum ServeCommand {
    private static let internalStatus: Int32 = 70
    private static let cancelledStatus: Int32 = 130
    /// SIGHUP never ends it, also where it is not ignored and there is nothing to load anew. Where
    /// nohup ignores it, it is taken all the same: a blocked signal is queued although it is
    /// ignored.
    private static let signals = StopRequests.stopSignals + [.hangUp]

    static func run(_ options: ServeOptions) -> Int32 {
        let log = Log(program: "imagebus", level: options.log.level, format: options.log.format)
        let faults = ConfigurationFaults.all(in: options.configurationFile)
        guard faults.isEmpty else { return refuse(faults, log) }
        do {
            // Before anything starts a thread: a signal goes to whichever does not block it.
            try Signal.block(signals)
            try Signal.brokenPipe.ignore()
            // It holds the secrets of the listeners; all children inherit the limit.
            try ResourceLimit.lower(.coreFile, to: 0)
            if let parent = options.parent,
                try !ParentDeath.arm(.terminate, expected: parent)
            {
                return cancelledStatus
            }
            return try supervise(options, log)
        } catch let error as RuntimeDirectoryError {
            log.error(error.description)
            return error.exitStatus
        } catch let error as UsageError {
            log.error(error.message)
            return GatewayListenError.exitStatus
        } catch let error as GatewayListenError {
            log.error(error.description)
            return GatewayListenError.exitStatus
        } catch {
            log.error("serve cannot run", ["reason": "\(error)"])
            return internalStatus
        }
    }

    private static func refuse(_ faults: [String], _ log: Log) -> Int32 {
        for fault in faults {
            log.error("the configuration cannot be used", ["at": "\(fault)"])
        }
        return ConfigurationCheck.faultStatus
    }

    private static func warnOfVariables(_ options: ServeOptions, _ log: Log) {
        guard let variable = options.ignoredVariable else { return }
        log.warning(
            "variables of another image server are not read: --gateway ADDRESS:PORT starts a "
                + "gateway, which reads them",
            ["variable": "\(variable)"])
    }

    private static func supervise(_ options: ServeOptions, _ log: Log) throws -> Int32 {
        let signals = try SignalDescriptor(signals)
        let configured = try options.configurationFile.map { try ConfigurationFile.read($0) }
        let pools =
            options.only == .gateway
            ? [] : (configured?.pools ?? []).drawing(workers: options.drawers)
        let faults = options.commandFaults(in: pools)
        guard faults.isEmpty else { return refuse(faults, log) }
        guard let directory = try awaitDirectory(options, pools, signals, log) else { return 0 }
        let paths = directory.paths
        if directory.hasSegmentsElsewhere {
            log.info(
                "the runtime directory is not on tmpfs, shared memory goes elsewhere",
                ["runtimeDirectory": "\(paths.root)", "segments": "\(paths.segmentsRoot)"])
        }
        // One kind alone has a user of its own, or its workers are somebody else's.
        let secrets = options.only == nil ? try StackSecrets(for: pools) : nil
        if let secrets {
            try directory.leaveAdminSecret(of: secrets)
            try directory.leavePoolSecrets(of: secrets)
        }
        warnOfVariables(options, log)
        try options.gateway?.watermark?.leave(in: paths.root)
        let hasGateways = options.only == nil || options.only == .gateway
        let listeners = try ServedListeners(
            hasGateways ? configured?.gateways ?? [] : [], of: options, in: paths, log: log)
        // Those of the configuration take the place of the usual one.
        let isUsual = options.gateway?.isUsual == true && !listeners.places.isEmpty
        let sockets = try Self.sockets(isUsual ? [] : options.gateway.map { [$0.place] } ?? [])
        let further = try Self.sockets(listeners.places)
        let served = isUsual ? options.withoutGateway : options
        let programs = try ServeOptions.programsDirectory(
            environment: CurrentProcess.environment)
        let metrics = options.metricsFile.map { MetricsFile($0, log: log) }
        let supervisor = Supervisor(
            served.children(
                programs: programs, secretFile: SecretFile.prepare(options), pools: pools,
                listener: sockets.first?.descriptorNumber,
                listeners: further.enumerated().map {
                    (listeners.arguments(of: $0.offset), $0.element.descriptorNumber)
                }),
            in: directory,
            stopRequests: .signals(signals), secrets: secrets,
            health: healthListener(options, paths, log),
            takeStatus: metrics.map { file in { report, now in file.take(report, at: now) } },
            prepareReload: { listeners.reload() }
        ) { note in
            log.write(note)
            switch note {
            case .ready: Terminal.out(readyLines(options, paths, sockets + further))
            // Who connects from now on is refused, and asks elsewhere.
            case .draining: for socket in sockets + further { socket.close() }
            default: break
            }
        }
        defer { metrics?.remove() }
        let end = try supervisor.run()
        if options.removesRuntimeDirectory { try? FileDescriptor.removeTree(path: paths.root) }
        return end.exitStatus
    }
}

extension ServeCommand {
    private static func sockets(
        _ places: [ListenPlace]
    ) throws(GatewayListenError) -> [GatewayListener] {
        var sockets: [GatewayListener] = []
        for place in places { sockets.append(try GatewayListener(place)) }
        return sockets
    }

    /// What scripts read: where clients connect, and what a browser opens.
    private static func readyLines(
        _ options: ServeOptions, _ paths: RuntimePaths, _ listeners: [GatewayListener]
    ) -> String {
        "ready \(options.endpoint(paths))\n"
            + listeners.map { "gateway \($0.url)\n" }.joined()
    }

    private static let pollMilliseconds = 100

    /// A stack that cannot say how it is serves all the same.
    private static func healthListener(
        _ options: ServeOptions, _ paths: RuntimePaths, _ log: Log
    ) -> HealthListener? {
        do throws(Errno) {
            return try HealthListener(in: paths.root, only: options.only)
        } catch {
            log.warning(
                "nobody can ask for the health of this supervisor",
                ["directory": .string(paths.root), "reason": "\(error)"])
            return nil
        }
    }

    /// The directories of what is served, as soon as they can be had; nil where a signal came
    /// before. Each kind may be another user's, and be started before the coordinator.
    private static func awaitDirectory(
        _ options: ServeOptions, _ pools: [WorkerPool], _ signals: borrowing SignalDescriptor,
        _ log: Log
    ) throws -> RuntimeDirectory? {
        var hasSaid = false
        while true {
            do throws(RuntimeDirectoryError) {
                return try RuntimeDirectory(
                    root: options.runtimeDirectory, kinds: Set(options.kinds), pools: pools,
                    only: options.pools.own)
            } catch {
                guard case .awaitsCoordinator = error else { throw error }
                if !hasSaid { log.info("waiting for the coordinator", ["reason": "\(error)"]) }
                hasSaid = true
            }
            let number = signals.descriptor.number
            _ = try ReadinessPoll.wait([number], milliseconds: pollMilliseconds)
            while let received = try signals.next() {
                if received.signal != .hangUp { return nil }
            }
        }
    }
}

extension ServeOptions {
    /// Where clients connect; without a coordinator, where the workers do.
    fileprivate func endpoint(_ paths: RuntimePaths) -> String {
        switch only {
        case nil, .gateway, .stack(.coordinator): paths.frontEndpoint
        case .stack(let kind): paths.backEndpoint(pools.own?.name ?? PoolName(kind))
        }
    }
}

extension RuntimeDirectoryError {
    /// The exit status of `serve` (SEMANTICS §15.7).
    var exitStatus: Int32 {
        switch self {
        case .notAbsolute, .pathTooLong: 64
        case .locked: 75
        case .notDirectory, .wrongOwner, .wrongMode: 77
        case .noSharedMemory, .awaitsCoordinator, .system: 70
        }
    }
}

extension Log {
    fileprivate func write(_ note: SupervisorNote) {
        switch note.level {
        case .debug: debug(note.description)
        case .info: info(note.description)
        case .warning: warning(note.description)
        case .error: error(note.description)
        }
    }
}
