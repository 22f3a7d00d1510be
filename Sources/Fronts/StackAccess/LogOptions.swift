package import CommandLineInterface
package import Observability

/// How a program logs.
package struct LogOptions: Hashable {
    package var level = LogLevel.info
    package var format = LogFormat.text

    package init() {}

    package init(_ read: ReadOptions, level quiet: LogLevel = .info) throws(UsageError) {
        level = try read.parsed("log-level", OptionValue.logLevel) ?? quiet
        format = try read.parsed("log-format", OptionValue.logFormat) ?? .text
    }

    /// The same as options of another program.
    package var arguments: [String] {
        ["--log-level", level.rawValue, "--log-format", format.rawValue]
    }
}
