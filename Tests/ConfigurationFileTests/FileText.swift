import Configuration
import ConfigurationFile

/// What a file of that text says.
func read(_ text: String) throws(ConfigurationFileError) -> Configuration {
    try ConfigurationFile.configuration(Array(text.utf8), path: "f")
}

/// What is wrong with it; empty where nothing is.
func faults(in text: String) -> [String] {
    do throws(ConfigurationFileError) {
        _ = try read(text)
        return []
    } catch {
        return error.lines
    }
}
