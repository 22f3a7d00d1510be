/// Completes in fish.
struct FishScript {
    let commands: [Command]

    var text: String {
        let names = commands.map { command in
            "complete -c imagebus -n __imagebus_begins -a \(command.name) "
                + "-d \(Self.quoted(Shell.brief(command.summary)))"
        }
        let general = """
            complete -c imagebus -n __imagebus_begins -a help -d 'what a command does'
            complete -c imagebus -n __imagebus_begins -l help -s h -d 'show the commands'
            complete -c imagebus -n __imagebus_begins -l version -d 'show the versions'
            complete -c imagebus -n '__imagebus_is help' \
            -a '\(commands.map(\.name).joined(separator: " "))'
            """
        let lines = commands.flatMap { options(of: $0) + operands(of: $0) }
        return Self.helpers + (names + [general] + lines).joined(separator: "\n") + "\n"
    }

    private func options(of command: Command) -> [String] {
        command.shownDefinitions.map { option in
            "complete -c imagebus -n '__imagebus_is \(command.name)' -l \(option.name)"
                + (option.letter.map { " -s \($0)" } ?? "")
                + (option.value == nil ? "" : value(option.choice))
                + " -d \(Self.quoted(Shell.brief(option.help)))"
        }
    }

    private func operands(of command: Command) -> [String] {
        let valued = command.shownDefinitions.filter { $0.value != nil }.flatMap { option in
            ["--\(option.name)"] + (option.letter.map { ["-\($0)"] } ?? [])
        }
        let further = command.operands.count
        let places =
            command.operands.enumerated().map { ("at \($0)", $1) }
            + [("from \(further)", command.furtherOperands)]
        return places.compactMap { place, choice in
            guard choice != .free else { return nil }
            let isAt = "__imagebus_operand \(command.name) \(place)"
            let words = Self.quoted(([isAt] + valued).joined(separator: " "))
            return "complete -c imagebus -n \(words)" + operand(choice)
        }
    }

    private func value(_ choice: ValueChoice) -> String {
        switch choice {
        case .free: " -x"
        case .words(let words): " -x -a \(Self.quoted(words.joined(separator: " ")))"
        case .list(let words):
            " -x -a \(Self.quoted("(__imagebus_list \(words.joined(separator: " ")))"))"
        case .file: " -r -F"
        case .directory: " -x -a '(__fish_complete_directories)'"
        }
    }

    private func operand(_ choice: ValueChoice) -> String {
        switch choice {
        case .file: " -F"
        case .directory: " -a '(__fish_complete_directories)'"
        case .free, .words, .list: " -a \(Self.quoted(choice.offered.joined(separator: " ")))"
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { #"\'"#.contains($0) ? "\\\($0)" : "\($0)" }.joined() + "'"
    }

    /// Options that take a value are named to `__imagebus_operand`, behind the command and what
    /// the count of operands before the cursor has to be.
    private static let helpers = """
        # fish completion of imagebus, made by `imagebus completion fish`
        function __imagebus_begins
            test (count (commandline -opc)) -eq 1
        end
        function __imagebus_is
            set -l words (commandline -opc)
            test (count $words) -ge 2; and test $words[2] = $argv[1]
        end
        function __imagebus_list
            set -l typed (commandline -ct | string replace -r '^-[^=]*=' '')
            set -l before (string match -r '^.*,' -- $typed)
            for word in $argv
                echo $before$word
            end
        end
        function __imagebus_operand
            __imagebus_is $argv[1]; or return 1
            set -l place 0
            set -l is_value 0
            for word in (commandline -opc)[3..-1]
                if test $is_value -eq 1
                    set is_value 0
                else if string match -q -- '-?*' $word
                    contains -- $word $argv[4..-1]; and set is_value 1
                else
                    set place (math $place + 1)
                end
            end
            switch $argv[2]
                case at
                    test $is_value -eq 0; and test $place -eq $argv[3]
                case from
                    test $is_value -eq 0; and test $place -ge $argv[3]
            end
        end
        complete -c imagebus -f

        """
}
