import CommandLineInterface

extension Command {
    static let completion = Command(
        name: "completion",
        summary: "print a script with which a shell completes command lines",
        usage: "bash|zsh|fish [options]",
        operands: [.words(Shell.allCases.map(\.rawValue))],
        options: [],
        notes: """
            The script knows commands, options, the words of values that are one of a few, and
            where a file or a directory is wanted. scripts/install puts it where the shells of this
            machine look for it. It is of this version: print it again after an update.
            """,
        examples: [
            (
                "imagebus completion bash > ~/.local/share/bash-completion/completions/imagebus",
                "for bash with the package bash-completion"
            ),
            ("source <(imagebus completion bash)", "in this bash alone"),
            ("imagebus completion zsh > ~/.zfunc/_imagebus", "where fpath has ~/.zfunc"),
            ("imagebus completion fish > ~/.config/fish/completions/imagebus.fish", "for fish"),
        ])

    static let manual = Command(
        name: "manual",
        summary: "print the manual page of imagebus(1)",
        usage: "[options]",
        options: [],
        notes: """
            Source of a page for man, with all commands and options of this version. scripts/install
            puts it where man looks for it.
            """,
        examples: [
            ("imagebus manual | man -l -", "read it"),
            ("imagebus manual > ~/.local/share/man/man1/imagebus.1", "where man finds it"),
        ])
}
