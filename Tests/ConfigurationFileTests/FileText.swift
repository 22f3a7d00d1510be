import ConfigurationFile
import Model

/// Parses a configuration file of that text.
func read(_ text: String) throws(ConfigurationFileError) -> Configuration {
    try ConfigurationFile.check(Array(text.utf8), path: "f").configuration
}

/// The errors found in the text; empty if it is valid.
func faults(in text: String) -> [String] {
    do throws(ConfigurationFileError) {
        _ = try read(text)
        return []
    } catch {
        return error.lines
    }
}
