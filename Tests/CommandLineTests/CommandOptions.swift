import CommandLineInterface

@testable import imagebus_cli

/// The options of a command as it reads them.
protocol CommandOptions: Hashable {
    static var command: Command { get }

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError)
}

extension CommandOptions {
    /// Reads arguments and variables.
    static func read(
        _ arguments: [String], _ environment: [String: String] = ["HOME": "/home/a"]
    ) throws(UsageError) -> Self {
        let read = try OptionReader.read(
            arguments, command.definitions, environment: environment)
        return try Self(read, environment: environment)
    }

    /// The error of arguments and variables; `nil` if there is none.
    static func complaint(
        _ arguments: [String], _ environment: [String: String] = ["HOME": "/home/a"]
    ) -> String? {
        usageError { () throws(UsageError) in _ = try read(arguments, environment) }
    }
}

/// The usage error of `body`; `nil` if there is none.
func usageError(_ body: () throws(UsageError) -> Void) -> String? {
    do throws(UsageError) {
        try body()
        return nil
    } catch {
        return error.message
    }
}

/// A suite that reads the options of one command.
protocol OptionTests { associatedtype Options: CommandOptions }

extension OptionTests {
    func options(
        _ arguments: [String], _ environment: [String: String] = ["HOME": "/home/a"]
    ) throws(UsageError) -> Options { try Options.read(arguments, environment) }

    func complaint(
        _ arguments: [String], _ environment: [String: String] = ["HOME": "/home/a"]
    ) -> String? { Options.complaint(arguments, environment) }
}

extension AnimateOptions: CommandOptions { static let command = Command.animate }
extension CacheOptions: CommandOptions { static let command = Command.cache }
extension GetOptions: CommandOptions { static let command = Command.get }
extension HealthOptions: CommandOptions { static let command = Command.health }
extension PrefetchOptions: CommandOptions { static let command = Command.prefetch }
extension ServeOptions: CommandOptions { static let command = Command.serve }
extension StatusOptions: CommandOptions { static let command = Command.status }
extension URLOptions: CommandOptions { static let command = Command.url }

/// The options that tests read, by the name of their command.
var commandOptions: [String: any CommandOptions.Type] {
    let all: [any CommandOptions.Type] = [
        AnimateOptions.self, CacheOptions.self, GetOptions.self, HealthOptions.self,
        PrefetchOptions.self, ServeOptions.self, StatusOptions.self, URLOptions.self,
    ]
    return Dictionary(uniqueKeysWithValues: all.map { ($0.command.name, $0) })
}
