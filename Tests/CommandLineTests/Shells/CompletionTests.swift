import CommandLineInterface
import Model
import TestKit
import Testing

@testable import imagebus_cli

/// Completions as offered by the shells themselves.
@Suite struct CompletionTests {
    private static let encodable = ImageFormat.encodable.map(\.name).sorted()

    /// A command line, and the completions of its last word.
    private static let lines: [(line: [String], words: [String])] = [
        (["imagebus", ""], (Command.documented.map(\.name) + ["help"]).sorted()),
        (["imagebus", "ge"], ["get"]), (["imagebus", "help", "prefe"], ["prefetch"]),
        (["imagebus", "get", "--form"], ["--format"]),
        (["imagebus", "get", "--format", ""], encodable),
        (["imagebus", "get", "--format="], encodable),
        (["imagebus", "get", "--format=we"], ["webp"]),
        (["imagebus", "animate", "--format", ""], ["gif", "png", "webp"]),
        (["imagebus", "get", "http://a/b", "--mode", "cover"], ["cover", "cover-turned"]),
        (["imagebus", "get", "--properties", "exif,blur"], ["blurhash"]),
        (["imagebus", "get", "--flip", ""], ["h", "hv", "v"]),
        (["imagebus", "get", "--context", "image-scale-f"], ["image-scale-factor="]),
        (["imagebus", "get", "--option", "refresh"], ["refresh-cached"]),
        (["imagebus", "get", "--quality", ""], []),
        (["imagebus", "cache", ""], CacheOptions.actions.sorted()),
        (["imagebus", "cache", "--type", "disk", "cl"], ["clear"]),
        (["imagebus", "cache", "--type=disk", "cl"], ["clear"]),
        (["imagebus", "cache", "--all", "cl"], ["clear"]),
        (["imagebus", "cache", "get", ""], []),
        (["imagebus", "drain", "dec"], ["decode"]), (["imagebus", "drain", "decode", "d"], []),
        (["imagebus", "bench", "st"], ["storm"]),
        (["imagebus", "completion", "f"], ["fish"]),
        (["imagebus", "nothing", ""], []),
    ]

    @Test(arguments: RealShell.all) func whatIsOfferedIsWhatFits(_ shell: RealShell) throws {
        let found = try shell.words(for: Self.lines.map(\.line))
        for ((line, words), found) in zip(Self.lines, found) {
            // fish offers options of `imagebus` itself only after a dash.
            let plain = line.count == 2 ? found.filter { !$0.hasPrefix("-") } : found
            #expect(plain == words, "\(line)")
        }
    }

    @Test(arguments: RealShell.all) func everyOptionIsOffered(_ shell: RealShell) throws {
        let found = try shell.words(for: Command.documented.map { ["imagebus", $0.name, "--"] })
        for (command, found) in zip(Command.documented, found) {
            let names = command.shownDefinitions.map { "--\($0.name)" }.sorted()
            #expect(found == names, "\(command.name)")
        }
    }

    @Test(arguments: RealShell.all) func filesAreOfferedWhereOneIsWanted(_ shell: RealShell) throws
    {
        let folder = TemporaryDirectory()
        folder.write([], to: "one.yaml")
        folder.write([], to: "other.png")
        try Tool.run(["mkdir", folder.file("over")])
        let begin = folder.file("o")
        let lines: [(line: [String], words: [String])] = [
            (["get", "http://a/b", "-o"], ["one.yaml", "other.png", "over"]),
            (["get", "http://a/b", "--frames"], ["over"]),
            (["config", "check"], ["one.yaml", "other.png", "over"]),
            (["animate", "a.png"], ["one.yaml", "other.png", "over"]),
            (["cache", "put", "KEY"], ["one.yaml", "other.png", "over"]),
            (["prefetch"], []),
        ]
        let found = try shell.words(for: lines.map { ["imagebus"] + $0.line + [begin] })
        for ((line, words), found) in zip(lines, found) { #expect(found == words, "\(line)") }
    }

    /// The values in the table are exactly those that the parser accepts.
    @Test func wordsOfTheTableAreThoseThatAreRead() {
        for command in Command.documented {
            for option in command.shownDefinitions where option.value != nil {
                let begin = "--\(option.name): "
                let refusal = Self.refusal(command, option, "xyzzy")
                for word in option.choice.offered {
                    let message = Self.refusal(
                        command, option, word.hasSuffix("=") ? word + "1" : word)
                    #expect(!message.hasPrefix(begin), "\(message)")
                    #expect(
                        !message.contains("alone") && !message.contains("no such"), "\(message)")
                }
                let isOfWords = ["'xyzzy' is not one of ", "expected one of "].contains {
                    refusal.hasPrefix(begin + $0)
                }
                #expect(!isOfWords || !option.choice.offered.isEmpty, "\(refusal)")
                guard case .words(let words) = option.choice, isOfWords else { continue }
                let named = refusal.split { ", ()'?;".contains($0) }.map(String.init)
                #expect(Set(words).isSubset(of: named), "\(refusal)")
            }
        }
    }

    @Test func kindsOfBenchAndActionsAreRead() throws {
        for action in CacheOptions.actions {
            // It is known, but may need more arguments.
            let message = CacheOptions.complaint([action]) ?? ""
            let isKnown = !message.hasPrefix("expected stats")
            #expect(isKnown || ["contains", "get", "put"].contains(action), "\(message)")
        }
    }

    /// The error for a value of an option.
    private static func refusal(
        _ command: Command, _ option: OptionDefinition, _ value: String
    ) -> String {
        let operands: [String: [String]] = [
            "serve": ["--gateway", ":8080"], "get": ["http://a/b"],
            "animate": ["a.png", "-o", "a.gif"], "prefetch": ["http://a/b"],
            "cache": ["list"], "failure-cache": ["list"], "downloads": ["resume"], "cancel": ["0"],
            "drain": ["decode"], "config": ["check"],
        ]
        let words = (operands[command.name] ?? []) + ["--\(option.name)", value]
        return commandOptions[command.name]?.complaint(words) ?? ""
    }
}
