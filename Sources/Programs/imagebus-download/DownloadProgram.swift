import Bootstrap
import Downloading
import Messages
import WorkerRuntime

/// URLs to bytes: many transfers on one thread; the only process with a network.
enum DownloadProgram {
    static func run(_ words: [String]) -> Int32 {
        WorkerProgram.run(
            .download, words, valued: ["allow-address"], flags: ["allow-private-networks"]
        ) { parts in
            var configuration = DownloadConfiguration(version: ProductVersion.text)
            configuration.allowsPrivateNetworks = parts.arguments.has("allow-private-networks")
            configuration.allowedAddresses = parts.arguments.all("allow-address")
            let arena = try parts.stageArena()
            let executor = try DownloadExecutor(
                configuration, arena: arena, reporter: parts.reporter)
            return WorkerMachine(executor: executor, arenas: [arena])
        }
    }
}
