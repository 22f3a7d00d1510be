import CommandLineInterface
import Model
import TestKit
import Testing

@testable import imagebus_cli

/// One list defines all steps, and all documentation covers it completely.
@Suite struct StepTableTests {
    @Test func everyStepIsAnOptionWithHelp() throws {
        let get = try #require(Command.documented.first { $0.name == "get" })
        let help = HelpText.text(of: get)
        for syntax in TransformStep.syntaxes {
            #expect(help.contains("--\(syntax.name)"), "\(syntax.name)")
        }
    }

    @Test func everySettingOfAnEncoderIsAnOptionWithHelp() throws {
        for name in ["get", "prefetch"] {
            let command = try #require(Command.documented.first { $0.name == name })
            let help = HelpText.text(of: command)
            for setting in OutputSetting.allCases {
                #expect(help.contains("--\(setting.optionName)"), "\(setting.name)")
            }
        }
    }

    /// Steps with a separate message are documented elsewhere in the protocol.
    @Test func everyStepByNameIsInTheProtocol() throws {
        let text = try #require(FileBytes.text(RepositoryRoot.path + "/Proto/PROTOCOL.md"))
        let others: Set = ["crop", "rotate", "flip", "overlay", "custom"]
        let names = TransformStep.syntaxes.map(\.name).filter { !others.contains($0) }
        #expect(names.count > 10)
        for name in names { #expect(text.contains("\n| `\(name)` | "), "\(name)") }
    }
}
