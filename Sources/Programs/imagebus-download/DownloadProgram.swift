import Downloading
import Model
import ProcessRuntime

/// Downloads URLs: many transfers on one thread; the only process with network access.
enum DownloadProgram {
    static func run(_ words: [String]) -> Int32 {
        WorkerProgram.run(
            .download, words,
            valued: Set(["allow-address", "deny-address", "ca-file"])
                .union(DownloadSetting.allCases.map(\.rawValue)),
            flags: ["allow-private-networks"]
        ) { parts in
            var configuration = DownloadConfiguration(version: ProductVersion.text)
            configuration.allowsPrivateNetworks = parts.arguments.has("allow-private-networks")
            configuration.allowedAddresses = parts.arguments.all("allow-address")
            configuration.deniedAddresses = parts.arguments.all("deny-address")
            for setting in DownloadSetting.allCases {
                guard let text = parts.arguments.value(setting.rawValue) else { continue }
                guard configuration.set(setting, to: text) else {
                    throw ConfigurationError(
                        "--\(setting.rawValue) '\(text)' is not \(setting.expected)")
                }
            }
            configuration.certificatesFile = parts.arguments.value("ca-file")
            let arena = try parts.stageArena()
            let executor = try executor(configuration, arena: arena, reporter: parts.reporter)
            return WorkerMachine(executor: executor, arenas: [arena])
        }
    }

    /// Creates the executor; an invalid configuration is reported as an error in the operator's
    /// settings.
    private static func executor(
        _ configuration: DownloadConfiguration, arena: Arena, reporter: WorkerReporter
    ) throws -> DownloadExecutor {
        do throws(ImageError) {
            return try DownloadExecutor(configuration, arena: arena, reporter: reporter)
        } catch  where error.code == .invalidRequest {
            throw ConfigurationError(error.message)
        }
    }
}

/// Connects the downloader to the bus.
final class DownloadExecutor: JobExecutor {
    private let downloader: Downloader
    private let arena: Arena
    private let reporter: WorkerReporter
    private var running: Set<JobID> = []
    private var lastTurn: UInt64?

    let credit: UInt32
    let needsHardCancel = false

    init(
        _ configuration: DownloadConfiguration, arena: Arena, reporter: WorkerReporter
    ) throws(ImageError) {
        self.arena = arena
        self.reporter = reporter
        credit = UInt32(configuration.jobsMax)
        downloader = try Downloader(
            configuration, into: arena,
            onProgress: { progress in
                let isSent = reporter.send(.progress(progress))
                if !isSent, let arrived = progress.arrived { arena.free(arrived.block) }
            },
            onOutcome: { reporter.finish($0) })
    }

    func start(_ job: Job) {
        running.insert(job.id)
        downloader.start(job)
    }

    func cancel(_ id: JobID) { downloader.cancel(id) }

    func adjust(_ adjustment: JobAdjustment) { downloader.adjust(adjustment) }

    func adopt(_ settings: DownloadSettings) { downloader.adopt(settings) }

    func release(_ blocks: [BlockID]) { for block in blocks { arena.free(block) } }

    func finished(_ id: JobID) { running.remove(id) }

    func abandon() { for id in running { downloader.cancel(id) } }

    func discard(_ reference: BlockReference) { arena.free(reference.block) }

    func flush() { reporter.flushed() }

    func heartbeat() -> ExecutorHeartbeat {
        let now = downloader.heartbeat
        defer { lastTurn = now.turn }
        return now.isWaiting || now.turn != lastTurn ? .beats : .stands(at: now.job)
    }
}
