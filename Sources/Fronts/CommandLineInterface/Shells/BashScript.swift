/// Completes in bash: `-F` of `complete`, without the package bash-completion.
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

    /// What is completed where a word begins with a dash, and which of these take a value.
    private func options(of command: Command) -> String {
        let all = command.shownDefinitions
        return """
                \(command.name))
                    options=\(Self.quoted(all.flatMap(Self.names)))
                    valued=\(Self.quoted(all.filter { $0.value != nil }.flatMap(Self.names)))
                    ;;
            """
    }

    /// What values of options and operands are.
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

    /// Words have neither blanks nor quotes.
    private static func quoted(_ words: [String]) -> String {
        "'\(words.joined(separator: " "))'"
    }

    /// Operands do not begin with a dash. `=` is a word of its own for bash.
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
