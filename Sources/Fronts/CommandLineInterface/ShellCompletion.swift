/// A shell with a completion script for `imagebus`.
package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish

    /// Returns the script, with all commands, options and values from the table of commands.
    package func script(_ commands: [Command]) -> String {
        switch self {
        case .bash: BashScript(commands: commands).text
        case .zsh: ZshScript(commands: commands).text
        case .fish: FishScript(commands: commands).text
        }
    }

    /// Shortens a help text to one line for a list of options.
    static func brief(_ help: String) -> String {
        let line = help.split(separator: "\n").joined(separator: " ")
        guard line.count > briefMax else { return line }
        let words = line.prefix(briefMax).split(separator: " ").dropLast()
        return words.joined(separator: " ") + " …"
    }

    /// The maximum length of a line that explains an option.
    private static let briefMax = 64

    /// Words that can follow `imagebus` itself.
    static let general = ["help", "--help", "--version"]
}

/// The completion script for bash. Uses `complete -F` and doesn't need the package bash-completion.
struct BashScript {
    let commands: [Command]

    var text: String {
        """
        # bash completion of imagebus, made by `imagebus completion bash`
        \(Self.helpers)
        _imagebus() {
            local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-}
            local commands=\(Self.quoted(commands.map(\.name) + Shell.general))
            local options='' valued='' name='' place=0 i
            COMPREPLY=()
            if ((COMP_CWORD == 1)); then
                _imagebus_words "$commands"
                return
            fi
            case $command in
        \(lines { options(of: $0) })
            help)
                _imagebus_words "$commands"
                return
                ;;
            *) return ;;
            esac
            _imagebus_place
            [[ $cur != = ]] || cur=''
            case $command:${name:-$place} in
        \(lines { values(of: $0) })
            esac
            [[ -z $name && $cur == -* ]] || return 0
            _imagebus_words "$options"
        }
        complete -F _imagebus imagebus

        """
    }

    private func lines(_ text: (Command) -> String) -> String {
        commands.map(text).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Returns what completes a word that begins with a dash, and which options take a value.
    private func options(of command: Command) -> String {
        let all = command.shownDefinitions
        return """
                \(command.name))
                    options=\(Self.quoted(all.flatMap(Self.names)))
                    valued=\(Self.quoted(all.filter { $0.value != nil }.flatMap(Self.names)))
                    ;;
            """
    }

    /// Returns the possible values of options and operands.
    private func values(of command: Command) -> String {
        let options = command.shownDefinitions.filter { $0.value != nil }.compactMap { option in
            entry(Self.names(option).map { "\(command.name):\($0)" }, option.choice)
        }
        let operands = command.operands.enumerated().compactMap { place, choice in
            entry(["\(command.name):\(place)"], choice)
        }
        let further = entry(["\(command.name):[0-9]*"], command.furtherOperands)
        return (options + operands + (further.map { [$0] } ?? [])).joined(separator: "\n")
    }

    private func entry(_ patterns: [String], _ choice: ValueChoice) -> String? {
        let action: String
        switch choice {
        case .free: return nil
        case .words(let words): action = "_imagebus_words \(Self.quoted(words))"
        case .list(let words): action = "_imagebus_list \(Self.quoted(words))"
        case .file: action = "_imagebus_files -f"
        case .directory: action = "_imagebus_files -d"
        }
        return "    \(patterns.joined(separator: "|"))) \(action) ;;"
    }

    private static func names(_ option: OptionDefinition) -> [String] {
        ["--\(option.name)"] + (option.letter.map { ["-\($0)"] } ?? [])
    }

    /// Quotes words, which contain neither spaces nor quotes.
    private static func quoted(_ words: [String]) -> String {
        "'\(words.joined(separator: " "))'"
    }

    /// Operands do not begin with a dash. bash treats `=` as a separate word.
    private static let helpers = """
        _imagebus_words() {
            mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
        }
        _imagebus_list() {
            local before=''
            [[ $cur != *,* ]] || before=${cur%,*},
            mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
            compopt -o nospace 2>/dev/null
        }
        _imagebus_files() {
            [[ $cur != -* ]] || return
            mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
            compopt -o filenames 2>/dev/null
        }
        # Whose value is completed, or how many operands stand before.
        _imagebus_place() {
            for ((i = 2; i < COMP_CWORD; i++)); do
                name=''
                case ${COMP_WORDS[i]} in
                -?*)
                    [[ " $valued " == *" ${COMP_WORDS[i]} "* ]] || continue
                    name=${COMP_WORDS[i]}
                    [[ ${COMP_WORDS[i + 1]-} != = ]] || ((++i))
                    ((++i < COMP_CWORD)) && name=''
                    ;;
                *) ((++place)) ;;
                esac
            done
        }
        """
}

/// The completion script for zsh: a file in `fpath`, or sourced.
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

    /// Returns the text after the second colon of a specification.
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

    /// Escapes brackets and colons for `_arguments`.
    private static func escaped(_ text: String) -> String {
        text.map { #"[]:\"#.contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: #"'\''"#) + "'"
    }
}

/// The completion script for fish.
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

    /// `__imagebus_operand` receives the command, the required number of operands before the
    /// cursor, and the options that take a value.
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
