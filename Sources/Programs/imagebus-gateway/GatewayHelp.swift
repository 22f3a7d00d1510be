import Messages

/// What `imagebus-gateway --help` prints.
enum GatewayHelp {
    static var text: String {
        var text = """
            usage: imagebus-gateway --runtime-dir DIRECTORY [options]

            images of a running stack over HTTP; `imagebus serve --gateway` starts one beside it

              --runtime-dir DIRECTORY     where the stack is
              --listen ADDRESS:PORT       where it listens (127.0.0.1:8080); :PORT is every address,
                                          unix:/PATH a Unix socket
              --log-level LEVEL           debug, info, warning or error (info)
              --log-format FORMAT         text or json (text)

            """
        for setting in GatewaySetting.allCases { text += lines(of: setting) }
        return text + """

            SIGHUP reads keys and presets anew, whole or not at all. SIGTERM ends it: /ready says no
            first, then no connection is taken, then whoever waits is answered; a second one ends it
            now.

            """
    }

    private static let column = 30

    private static func lines(of setting: GatewaySetting) -> String {
        let name = "  --\(setting.rawValue)" + (setting.placeholder.map { " \($0)" } ?? "")
        let blank = String(repeating: " ", count: column)
        let help = setting.help.split(separator: "\n").joined(separator: "\n\(blank)")
        let begin =
            name.count < column
            ? name + String(repeating: " ", count: column - name.count) : "\(name)\n\(blank)"
        return begin + help + "\n"
    }
}
