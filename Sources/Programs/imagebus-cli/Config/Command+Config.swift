import CommandLineInterface
import StackAccess

extension Command {
    static let config = Command(
        name: "config",
        summary: "look at a configuration without using it",
        usage: "check [FILE] [options]",
        operands: [.words(["check"]), .file],
        options: [("", [.config])],
        notes: """
            check reads the file, which may also be named by --config or IMAGEBUS_CONFIG, and prints
            one line with what is in it, or every fault as FILE:LINE: REASON. Secret files are
            not opened.

            exit status: 0 it can be used, 64 it cannot
            """,
        examples: [
            ("imagebus config check /etc/imagebus.yaml", "before kill -HUP of the one that serves")
        ])
}
