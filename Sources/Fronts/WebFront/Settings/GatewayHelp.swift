import Model
import Reporting

/// The output of `imagebus-gateway --help`.
package enum GatewayHelp {
    /// The output, wrapped to the width of standard output.
    package static var text: String { text(columns: HelpLayout.columns) }

    /// Returns the output, wrapped to a number of columns.
    package static func text(columns: Int) -> String {
        let settings = GatewaySetting.allCases.map { (syntax: $0.syntax, help: $0.help) }
        let options = common + settings
        let names = options.map { "  --\($0.syntax)" }
        let column = HelpLayout.column(after: names, columns: columns)
        let rows = zip(names, options).map { name, option in
            HelpLayout.row(name, option.help, at: column, columns: columns)
        }
        return """
            usage: imagebus-gateway --runtime-dir DIRECTORY [options]

            serve images of a running stack over HTTP; started by `imagebus serve --gateway`

            \(rows.joined())
            \(HelpLayout.paragraphs(signals, columns: columns))

            """
    }

    /// The options that aren't settings of a listener.
    private static let common: [(syntax: String, help: String)] = [
        ("runtime-dir DIRECTORY", "runtime directory of the stack"),
        (
            "listen ADDRESS:PORT",
            "address to listen on (127.0.0.1:8080); :PORT for all addresses, unix:/PATH for a "
                + "Unix socket"
        ),
        ("log-level LEVEL", "log level: debug, info, warning or error (info)"),
        ("log-format FORMAT", "log format: text or json (text)"),
    ]

    private static let signals = """
        SIGHUP reloads keys, presets, tokens and the fallback image, completely or not at all.
        SIGTERM stops the gateway: /ready fails, new connections are refused, and pending requests
        are answered; a second SIGTERM stops it immediately.
        """
}

extension GatewaySetting {
    /// The name and the placeholder of the option.
    fileprivate var syntax: String { rawValue + (placeholder.map { " \($0)" } ?? "") }
}
