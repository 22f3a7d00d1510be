import CommandLineInterface
import Model
import TestKit
import Testing

@testable import imagebus_cli

/// The manual page as processed by other programs.
@Suite struct ManualPageTests {
    private static let source = ManualPage.text

    /// The output of groff without bold and underlining.
    private func page(_ folder: TemporaryDirectory) throws -> String {
        let path = folder.write(Array(Self.source.utf8), to: "imagebus.1")
        let line = ["groff", "-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-o", "-P-u", path]
        return String(decoding: try Tool.run(line), as: UTF8.self)
    }

    @Test func groffFindsNothingToWarnOf() throws {
        let folder = TemporaryDirectory()
        let path = folder.write(Array(Self.source.utf8), to: "imagebus.1")
        let script = "groff -man -Tutf8 -ww \"$1\" 2>&1 >/dev/null"
        let output = try Tool.run(["bash", "-c", script, "bash", path])
        #expect(String(decoding: output, as: UTF8.self) == "")
        #expect(Self.source.utf8.allSatisfy { $0 < 0x80 }, "readable in any locale")
    }

    @Test func everyOptionOfEveryCommandIsOnThePage() throws {
        let page = try page(TemporaryDirectory())
        let parts = page.split(separator: "\n").map(String.init)
        for command in Command.documented {
            let heading = "   imagebus \(command.name)"
            guard let begin = parts.firstIndex(where: { $0.hasPrefix(heading) }) else {
                Issue.record("there is no part \(command.name)")
                continue
            }
            // The next heading is less indented than a text.
            let part = parts[(begin + 1)...].prefix { $0.hasPrefix("    ") }
            #expect(part.first?.lowercased().contains(command.summary.prefix(30)) == true)
            for option in command.shownDefinitions {
                let letter = option.letter.map { "-\($0), " } ?? ""
                let head = "\(letter)--\(option.name)" + (option.value.map { " \($0)" } ?? "")
                let isThere = part.contains { line in
                    let line = line.drop { $0 == " " }
                    return line == head || line.hasPrefix(head + " ")
                }
                #expect(isThere, "\(command.name): \(head)")
            }
            for example in command.examples {
                #expect(parts.contains { $0.drop { $0 == " " } == example.line }, "\(example.line)")
            }
        }
    }

    @Test func everySectionAndEveryStatusIsOnThePage() throws {
        let lines = try page(TemporaryDirectory()).split(separator: "\n").map(String.init)
        let sections = lines.filter { $0.first?.isLetter == true }.dropFirst().dropLast()
        #expect(
            Array(sections) == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT",
                "FILES", "EXAMPLES",
            ])
        for code in ErrorCode.allCases {
            let status = code.rule.exitStatus
            #expect(ExitStatuses.rows.contains { $0.status == status }, "\(code)")
        }
        let words = HelpText.overview.split(whereSeparator: \.isWhitespace)
        for row in ExitStatuses.rows {
            #expect(words.contains("\(row.status)"))
            #expect(lines.contains { $0.hasPrefix("       \(row.status) ") }, "\(row.status)")
        }
    }

    /// `man` finds and renders the installed page; so does mandoc, which has its own macros.
    @Test func manAndMandocReadIt() throws {
        let folder = TemporaryDirectory()
        let path = folder.write(Array(Self.source.utf8), to: "imagebus.1")
        for line in [["man", "-l", path], ["mandoc", "-Tutf8", path]] {
            let output = String(decoding: try Tool.run(line), as: UTF8.self)
            #expect(output.contains("imagebus") && output.contains("progressive-load"), "\(line)")
        }
    }
}
