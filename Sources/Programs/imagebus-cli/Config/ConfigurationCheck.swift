import CommandLineInterface
import Configuration
import ConfigurationFile
import Observability

/// `imagebus config check`.
enum ConfigurationCheck {
    /// Of a file that cannot be used.
    static let faultStatus: Int32 = 64

    /// What `config` was told.
    struct Options: Hashable {
        let path: String

        init(_ read: ReadOptions, _ environment: [String: String]) throws(UsageError) {
            guard read.operands.first == "check", read.operands.count <= 2 else {
                throw UsageError("write check, and the file")
            }
            let named = read.operands.count == 2 ? read.operands[1] : read.last("config")
            guard let named, !named.isEmpty else {
                throw UsageError("no file is named, neither here nor by IMAGEBUS_CONFIG")
            }
            path = named
        }
    }

    static func run(_ options: Options) -> Int32 {
        do throws(ConfigurationFileError) {
            let configuration = try ConfigurationFile.read(options.path)
            return Terminal.finish(
                "config", "\(options.path): ok, \(configuration.summary)\n")
        } catch {
            Terminal.error(error.lines.map { PlainText.line($0) + "\n" }.joined())
            return faultStatus
        }
    }
}
