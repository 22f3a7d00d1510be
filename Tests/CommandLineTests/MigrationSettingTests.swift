import CommandLineInterface
import Model
import Supervision
import TestKit
import Testing

@testable import imagebus_cli

/// The migration pages: each row of the tables of variables matches the actual translation, and
/// each option that a page names belongs to the program that it starts.
@Suite struct MigrationSettingTests {
    struct Row: Sendable, CustomStringConvertible {
        let grammar: String
        let variables: [String: String]
        let ours: String

        var description: String { variables.keys.sorted().joined(separator: " ") }
    }

    private static let pages = ["imgproxy", "thumbor", "imagor"]

    private static func text(_ page: String) -> String {
        FileBytes.text(RepositoryRoot.file("Proto/Migration/\(page).md")) ?? ""
    }

    private static let rows: [Row] = pages.flatMap { page in
        text(page).split(separator: "\n").drop { $0 != "## Configuration" }
            .filter { $0.hasPrefix("| `") }
            .map { line in
                let cells = line.split(separator: "|").map { String($0) }
                var variables: [String: String] = [:]
                for span in spans(in: cells[0]) {
                    let words = span.split(separator: "=", maxSplits: 1)
                    variables[String(words[0])] = words.count > 1 ? String(words[1]) : ""
                }
                return Row(
                    grammar: page, variables: variables, ours: cells[1].trimmingBlanks)
            }
    }

    private static func spans(in text: String) -> [String] {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    @Test func thePagesHaveRows() {
        #expect(Self.rows.count > 100)
    }

    @Test(arguments: rows) func aRowIsWhatItsVariablesBecome(row: Row) throws {
        if row.ours.hasPrefix("none, because ") {
            let fault = #expect(throws: PeerSettings.InvalidVariable.self) {
                try PeerSettings.translate(row.variables, grammar: row.grammar)
            }
            #expect(fault.map { row.variables[$0.variable] != nil } == true)
            return
        }
        let translation = try PeerSettings.translate(row.variables, grammar: row.grammar)
        if row.ours.hasPrefix("keys:") {
            #expect(!translation.keyLines.isEmpty && translation.entries.isEmpty)
        } else if row.ours.hasPrefix("always:") {
            #expect(translation.entries.isEmpty && translation.keyLines.isEmpty)
        } else {
            let words = translation.entries.map { entry in
                "--\(entry.option.name)"
                    + (entry.option.value.isEmpty ? "" : " \(entry.option.value)")
            }
            #expect(row.ours == "`\(words.joined(separator: " "))`")
        }
    }

    /// `serve` accepts the options that the variables are translated to.
    @Test(arguments: rows.filter { $0.ours.hasPrefix("`--") })
    func serveTakesWhatTheyBecome(row: Row) throws {
        let usual = ["HOME": "/home/a", "IMAGEBUS_GATEWAY": "127.0.0.1:80"]
        let skipped = ["IMGPROXY_WATERMARK_PATH", "IMGPROXY_WATERMARK_DATA"]
        guard !row.variables.keys.contains(where: skipped.contains) else { return }
        let environment = usual.merging(row.variables) { $1 }
        let options = try ServeOptions.read(["--gateway-grammar", row.grammar], environment)
        let arguments = options.children(programs: "/p").flatMap(\.arguments)
        let kinds = options.children(programs: "/p").map(\.kind.name)
        for word in row.ours.filter({ $0 != "`" }).split(separator: " ")
        where word.hasPrefix("--") {
            let name = word.replacing("--gateway-", with: "--")
            switch name {
            case "--gateway": #expect(options.gateway != nil)
            case "--decode", "--transform":
                #expect(kinds.filter { $0 == name.dropFirst(2) }.count == 4)
            default: #expect(arguments.contains(String(name)), "\(word)")
            }
        }
    }

    @Test(arguments: pages) func optionsAreThoseOfTheProgramThatThePageStarts(page: String) {
        let known = Set(Command.serve.definitions.map { "--\($0.name)" })
        for span in Self.spans(in: Self.text(page).replacing("\n", with: " ")) {
            guard !span.hasPrefix("imagebus ") || span.hasPrefix("imagebus serve") else { continue }
            for word in span.split(separator: " ") where word.hasPrefix("--") {
                let name = String(word.prefix { $0 != "=" })
                #expect(known.contains(name), "\(page): \(name)")
            }
        }
    }

    /// An unsupported variable prevents the start with an error that names it; Imagebus options
    /// take precedence.
    @Test func variablesOfOthersComeAfterOurs() throws {
        func options(_ words: [String], _ more: [String: String]) throws -> ServeOptions {
            try ServeOptions.read(words, ["HOME": "/home/a"].merging(more) { $1 })
        }
        let both = try options(
            ["--gateway", ":80", "--gateway-timeout", "5s"],
            ["IMGPROXY_TIMEOUT": "9", "IMGPROXY_KEY": "6b", "IMGPROXY_SALT": "73"])
        #expect(both.gateway?.arguments == ["--timeout", "5s"])
        let child = try #require(both.children(programs: "/p").last)
        #expect(child.environment == ["IMGPROXY_KEY": "6b", "IMGPROXY_SALT": "73"])
        // Without a gateway, and for other processes, they are ignored.
        #expect(try options([], ["IMGPROXY_SECRET": "x"]).gateway == nil)
        #expect(throws: Never.self) {
            try options(
                ["--only", "decode"], ["IMGPROXY_SECRET": "x", "IMAGEBUS_GATEWAY": ":80"])
        }
        let fault = #expect(throws: UsageError.self) {
            try options(["--gateway", ":80"], ["IMGPROXY_SECRET": "x"])
        }
        #expect(fault?.message.contains("IMGPROXY_SECRET") == true)
        let elsewhere = #expect(throws: UsageError.self) {
            try options(["--only", "gateway"], ["IMGPROXY_DOWNLOAD_TIMEOUT": "5"])
        }
        #expect(elsewhere?.message.contains("--transfer-timeout") == true)
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
