package import CommandLineInterface
import Linux
import Supervision

extension ReadOptions {
    /// The runtime directory that is named, else this user's.
    package func runtimeDirectory(_ environment: [String: String]) throws(UsageError) -> String {
        try parsed(OptionDefinition.runtimeDirectory.name, OptionValue.path)
            ?? RuntimeLocation.runtimeDirectory(
                environment: environment, userID: CurrentProcess.userID)
    }

    /// The disk tier that is named, else this user's; nil where nothing says where.
    package func cacheDirectory(_ environment: [String: String]) throws(UsageError) -> String? {
        try parsed(OptionDefinition.cacheDirectory.name, OptionValue.path)
            ?? RuntimeLocation.cacheDirectory(environment: environment)
    }
}
