import Caching
import Linux
import Model
import ProcessRuntime

/// Maps keys to bytes: memory tier, disk tier, and the copies that clients read.
enum CacheProgram {
    static func run(_ words: [String]) -> Int32 {
        WorkerProgram.run(
            .cache, words,
            valued: Set(["cache-dir", "memory-files"] + CacheSetting.allCases.map(\.rawValue)),
            flags: ["yield-cache"]
        ) { parts in
            let settings = try self.settings(parts.arguments)
            let files = MemoryFiles(parts.arguments.value("memory-files"))
            let disk = try CacheDisk(parts)
            let policy = self.policy(settings, files.supply, disk.directory)
            let staging = try parts.stageArena()
            // Besides the memory tier, the arena holds blocks that wait to be released or written.
            let results = try Arena(
                directory: parts.paths.resultsDirectory, name: .results,
                incarnation: parts.incarnation,
                totalBytesMax: policy.memoryBytesMax + max(64 << 20, policy.memoryBytesMax / 2))
            let executor = try CacheExecutor(
                policy: policy, disk: disk, results: results,
                staging: staging, memory: files, directories: parts.directories,
                reporter: parts.reporter,
                log: parts.log)
            return WorkerMachine(executor: executor, arenas: [staging, results])
        }
    }

    private static func policy(
        _ settings: CacheSettings, _ supply: MemorySupply, _ directory: CacheDirectory?
    ) -> CachePolicy {
        var policy = CachePolicy()
        policy.memoryBytesMax = CachePolicy.memoryBytes(ofLimit: supply.limitBytes)
        if let directory {
            policy.disk.bytesMax = Int(
                CacheSetting.usualDiskLimit(ofFileSystem: directory.fileSystemBytes))
        }
        policy.apply(settings)
        return policy
    }

    private static func settings(
        _ arguments: ProgramArguments
    ) throws(ConfigurationError) -> CacheSettings {
        var settings = CacheSettings()
        for setting in CacheSetting.allCases {
            guard let text = arguments.value(setting.rawValue) else { continue }
            guard let value = setting.value(of: text) else {
                throw ConfigurationError("--\(setting.rawValue): expected \(setting.expected)")
            }
            settings[setting] = value
        }
        return settings
    }
}

/// Where the kernel reports the available memory; tests use files of their own.
struct MemoryFiles {
    private let folder: String?

    init(_ folder: String?) { self.folder = folder }

    var supply: MemorySupply {
        guard let folder else { return .now() }
        return .now(groups: folder + "/groups", process: folder + "/proc")
    }
}

/// The directory of the disk tier, or why there is none.
struct CacheDisk {
    let directory: CacheDirectory?
    /// Why the specified directory can't be used.
    let fault: String?

    /// Without `--cache-dir` there is only the memory tier.
    init(_ parts: WorkerParts) throws {
        guard let path = parts.arguments.value("cache-dir") else {
            parts.log.info("no cache directory; using memory only")
            (directory, fault) = (nil, nil)
            return
        }
        do throws(DiskError) {
            (directory, fault) = (try CacheDirectory(path: path), nil)
        } catch {
            switch error.kind {
            case .inUse where parts.arguments.has("yield-cache"):
                parts.log.info("no disk tier; using memory only", ["reason": .string(error.text)])
                (directory, fault) = (nil, nil)
                return
            case .inUse:
                throw ConfigurationError("\(error.text): use another --cache-dir")
            case .unsafe: throw ConfigurationError(error.text)
            case .full, .readOnly, .badIndex, .stalled, .failed: break
            }
            // Continue with memory only; the error is reported here and in the status.
            parts.log.warning("no disk tier; using memory only", ["error": .string(error.text)])
            (directory, fault) = (nil, error.description)
        }
    }
}
