import ConfigurationFile
import ImageModel

/// The look at a configuration before a stack is started with it.
package enum ConfigurationFaults {
    /// Every fault of a file, as `FILE:LINE: REASON`.
    package static func all(in path: String?) -> [String] {
        guard let path else { return [] }
        do throws(ConfigurationFileError) {
            _ = try ConfigurationFile.read(path)
            return []
        } catch {
            return error.lines
        }
    }

    /// The first one, for those who say one.
    static func first(in path: String?) -> ImageError? {
        all(in: path).first.map { ImageError(.invalidRequest, $0) }
    }
}
