import Configuration
import ConfigurationFile
import ImageModel
import Observability

/// `imagebus config check`, and the look at the file before a stack is started with it.
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

    /// What is wrong with a file, where there is one; its first line for those who say one.
    static func fault(_ path: String?) -> ImageError? {
        faults(path).first.map { ImageError(.invalidRequest, $0) }
    }

    /// Every fault of a file, as `FILE:LINE: REASON`.
    static func faults(_ path: String?) -> [String] {
        guard let path else { return [] }
        do throws(ConfigurationFileError) {
            _ = try ConfigurationFile.read(path)
            return []
        } catch {
            return error.lines
        }
    }
}
