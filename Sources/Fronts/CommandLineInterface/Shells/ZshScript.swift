/// Completes in zsh: a file of `fpath`, or sourced.
struct ZshScript {
    let commands: [Command]

    var text: String {
        let cases = commands.map { command in
            "    \(command.name))\n        _arguments -s -S \\\n            "
                + specifications(of: command).joined(separator: " \\\n            ")
                + "\n        ;;"
        }
        let described = commands.map { command in
            "        " + Self.quoted("\(command.name):\(Shell.brief(command.summary))")
        }
        return """
            #compdef imagebus
            # zsh completion of imagebus, made by `imagebus completion zsh`
            _imagebus_commands() {
                local -a commands=(
            \(described.joined(separator: "\n"))
                )
                _describe -t commands command commands
            }
            _imagebus() {
                local curcontext=$curcontext context state state_descr line
                typeset -A opt_args
                if (( CURRENT == 2 )); then
                    _imagebus_commands
                    compadd -- \(Shell.general.joined(separator: " "))
                    return
                fi
                shift words
                (( CURRENT-- ))
                case $words[1] in
            \(cases.joined(separator: "\n"))
                help) _imagebus_commands ;;
                esac
            }
            if [ "$funcstack[1]" = _imagebus ]; then
                _imagebus "$@"
            else
                compdef _imagebus imagebus
            fi

            """
    }

    private func specifications(of command: Command) -> [String] {
        let options = command.shownDefinitions.flatMap { option in
            let help = Self.escaped(Shell.brief(option.help))
            let value = option.value.map { ":\(Self.escaped($0)):\(action(option.choice))" } ?? ""
            let (equals, plus) = option.value == nil ? ("", "") : ("=", "+")
            let long = "*--\(option.name)\(equals)[\(help)]\(value)"
            return [long] + (option.letter.map { ["*-\($0)\(plus)[\(help)]\(value)"] } ?? [])
        }
        let operands = command.operands.enumerated().map { place, choice in
            "\(place + 1):operand:\(action(choice))"
        }
        let further = "*:operand:\(action(command.furtherOperands))"
        return (options + operands + [further]).map(Self.quoted)
    }

    /// What follows the second colon.
    private func action(_ choice: ValueChoice) -> String {
        switch choice {
        case .free: " "
        case .words(let words) where words.contains { $0.hasSuffix("=") }:
            " compadd -S '' -- \(words.joined(separator: " "))"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .list(let words): " _values -s , word \(words.joined(separator: " "))"
        case .file: "_files"
        case .directory: "_files -/"
        }
    }

    /// For `_arguments`, which reads brackets and colons.
    private static func escaped(_ text: String) -> String {
        text.map { #"[]:\"#.contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: #"'\''"#) + "'"
    }
}
