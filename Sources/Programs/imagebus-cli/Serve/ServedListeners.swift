import CommandLineInterface
import Configuration
import ConfigurationFile
import Linux
import Messages
import Observability
import SharedArena

/// The listeners of `gateway` in the configuration: a gateway each, whose settings are a file in
/// the runtime directory, so that SIGHUP reloads them.
final class ServedListeners {
    private let configurationFile: String?
    private let runtimeDirectory: String
    private let canCopyWatermarks: Bool
    private let log: Log
    private var settings: [GatewayListenerSettings]

    private static let folder = "gateway"

    /// Writes the files of `settings`.
    init(
        _ settings: [GatewayListenerSettings], of options: ServeOptions, in paths: RuntimePaths,
        log: Log
    ) throws {
        (self.settings, self.log) = (settings, log)
        (configurationFile, runtimeDirectory) = (options.configurationFile, paths.root)
        canCopyWatermarks = options.only == nil
        try write(settings)
    }

    /// Where each listens.
    var places: [ListenPlace] { settings.map(\.place) }

    /// What a gateway is told to read.
    func arguments(of index: Int) -> [String] {
        ["--listen", settings[index].place.text, "--settings-file", path(of: index)]
    }

    private func path(of index: Int) -> String {
        "\(runtimeDirectory)/\(Self.folder)/\(index)"
    }

    /// Takes what the file says now, whole or not at all; the gateways are told to read it behind
    /// that. What is wrong with the file the coordinator says.
    func reload() {
        guard !settings.isEmpty, let configurationFile else { return }
        do {
            let new = try ConfigurationFile.read(configurationFile).gateways
            guard new.map(\.place) == places else {
                return log.error(
                    "the gateways stay as they are: other listeners need a restart of serve",
                    ["file": .string(configurationFile)])
            }
            try write(new)
            settings = new
        } catch {
            log.error(
                "the gateways stay as they are: their new settings cannot be used",
                ["reason": "\(error)"])
        }
    }

    private func write(_ settings: [GatewayListenerSettings]) throws {
        guard !settings.isEmpty else { return }
        let files = try settings.map { one in try arguments(of: one) }
        try? FileDescriptor.makeDirectory(path: "\(runtimeDirectory)/\(Self.folder)")
        for (index, words) in files.enumerated() {
            try OutputFile.replace(
                GatewayListenerSettings.fileBytes(of: words), at: path(of: index))
        }
    }

    /// A watermark that is a file is copied to where the stack loads it.
    private func arguments(of one: GatewayListenerSettings) throws -> [String] {
        var one = one
        guard let text = one.values[.watermark], let file = try ServedWatermark(text) else {
            return one.arguments
        }
        guard canCopyWatermarks else {
            throw UsageError(
                "gateway.watermark: a file is for serve without --only: name a URL, such as "
                    + "local:///mark.png")
        }
        try file.leave(in: runtimeDirectory)
        one.values[.watermark] = file.url
        return one.arguments
    }
}
