import CommandLineInterface
import TestKit
import Testing

@testable import imagebus_cli

/// The completions of a real shell with the generated script, as a user would see them.
struct RealShell: CustomTestStringConvertible {
    let shell: Shell

    var testDescription: String { shell.rawValue }

    static let all = Shell.allCases.map(RealShell.init)

    /// The completions of the last word of each line, sorted.
    func words(for lines: [[String]]) throws -> [[String]] {
        let folder = TemporaryDirectory()
        let name = shell == .zsh ? "_imagebus" : "imagebus"
        let script = folder.write(Array(shell.script(Command.documented).utf8), to: name)
        return try lines.map { line in
            let output = try output(line, script, folder)
            let typed = (line.last ?? "").prefix { _ in true }
            let begin = typed.lastIndex { "=,".contains($0) }.map { String(typed[...$0]) } ?? ""
            return Set(output.map { Self.bare($0, begin) }).sorted()
        }
    }

    /// A completion without its description, without the part already typed, and without
    /// directories.
    private static func bare(_ word: Substring, _ begin: String) -> String {
        let word = word.prefix { $0 != "\t" }
        let rest = word.hasPrefix(begin) ? word.dropFirst(begin.count) : word
        return rest.split(separator: "/").last.map(String.init) ?? ""
    }

    private func output(
        _ line: [String], _ script: String, _ folder: TemporaryDirectory
    ) throws -> [Substring] {
        let bytes: [UInt8]
        switch shell {
        case .bash:
            bytes = try Tool.run(["bash", "--norc", "-c", Self.bashDriver, "bash", script] + line)
        case .zsh:
            let inner = folder.write(Array(Self.zshInner.utf8), to: "inner")
            let found = folder.write([], to: "found")
            try Tool.run([
                "timeout", "120", "zsh", "-f", "-c", Self.zshDriver, "zsh", folder.path, inner,
                found, line.joined(separator: " "),
            ])
            bytes = FileBytes.read(found) ?? []
        case .fish:
            bytes = try Tool.run([
                "fish", "--no-config", "--command", "source $argv[1]; complete -C $argv[2]", script,
                line.joined(separator: " "),
            ])
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    /// `=` is a separate word, as in bash's command lines.
    private static let bashDriver = """
        source "$1" && shift
        [[ $(complete -p imagebus) == 'complete -F _imagebus imagebus' ]] || exit 3
        COMP_WORDS=()
        for word in "$@"; do
            if [[ $word == --*=* ]]; then
                COMP_WORDS+=("${word%%=*}" =)
                [[ -z ${word#*=} ]] || COMP_WORDS+=("${word#*=}")
            else
                COMP_WORDS+=("$word")
            fi
        done
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _imagebus
        ((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
        """

    /// A zsh in a pseudo-terminal in which a line and a tab are typed.
    private static let zshDriver = """
        export FOLDER=$1 FOUND=$3
        zmodload zsh/zpty || exit 3
        zpty z zsh -f -i
        zpty -w z "source $2"
        while zpty -r z line; do [[ $line == *is-ready* ]] && break; done
        zpty -w -n z "$4"$'\\t'
        while zpty -r z line; do :; done
        """

    /// Records the completions and exits. Doesn't ask whether to show a long list.
    private static let zshInner = """
        PROMPT=
        LISTMAX=10000
        fpath=($FOLDER $fpath)
        autoload -Uz compinit
        compinit -u -D
        bindkey '^I' complete-word
        zstyle ':completion:*' insert-tab false
        leave() { exit 0 }
        comppostfuncs=(leave)
        compadd() {
            if [[ " ${@[1,(i)(-|--)]}" != *' -'[OAD]* ]]; then
                local -a offered
                builtin compadd -A offered "$@"
                (( $#offered )) && print -rl -- "${offered[@]}" >>$FOUND
            fi
            builtin compadd "$@"
        }
        print is-''ready
        """
}
