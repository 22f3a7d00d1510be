public import Configuration
import YAML

/// Reads a configuration from a YAML file: whole, or not at all.
public enum ConfigurationFile {
    /// Reads `path`, a regular file, without waiting; secrets are left for `SecretFiles`.
    public static func read(_ path: String) throws(ConfigurationFileError) -> Configuration {
        let bytes: [UInt8]
        do throws(RegularFileError) {
            let file = try RegularFile(path)
            // One byte more than is read tells a file that is too long.
            bytes = try file.bytes(max: YAMLLimits.bytesMax + 1)
        } catch {
            throw ConfigurationFileError(path: path, [.init(line: nil, "\(error)")])
        }
        return try configuration(bytes, path: path)
    }

    /// The configuration in the text of a file; `path` is for errors.
    public static func configuration(
        _ bytes: [UInt8], path: String
    ) throws(ConfigurationFileError) -> Configuration {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLParser.parse(bytes)
        } catch {
            throw ConfigurationFileError(path: path, [.init(line: error.line, error.reason)])
        }
        var configuration = Configuration()
        var reading = Reading()
        if let root, !root.isEmpty {
            KeyTable.file.read(root, "the file", into: &configuration, &reading)
        }
        configuration.grantSchemes()
        reading.checkReferences(to: configuration)
        reading.checkSecretFiles(of: configuration)
        guard reading.problems.isEmpty else {
            throw ConfigurationFileError(
                path: path, reading.problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
        }
        return configuration
    }
}

extension YAMLNode {
    /// Nothing behind a key, or `~`.
    var isEmpty: Bool {
        switch content {
        case .scalar(let text): text.isEmpty || text == "~" || text == "null"
        case .list, .map: false
        }
    }
}
