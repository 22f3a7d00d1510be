import Bootstrap
import Downloading
import ImageModel
import Messages
import SharedArena
import WorkerRuntime

/// URLs to bytes: many transfers on one thread; the only process with a network.
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

    /// What the stage cannot be set to is a setting of the operator's.
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
