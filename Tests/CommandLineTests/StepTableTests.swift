import CommandLineInterface
import Model
import TestKit
import Testing

@testable import imagebus_cli

/// One list defines all steps, and all documentation covers it completely.
@Suite struct StepTableTests {
    @Test(arguments: ["get", "prefetch"])
    func everyStepAndEverySettingOfAnEncoderIsAnOptionWithHelp(name: String) throws {
        let help = HelpText.text(of: try #require(ToolCommand.named(name)).command)
        let names = TransformStep.syntaxes.map(\.name) + OutputSetting.allCases.map(\.optionName)
        for name in names { #expect(help.contains("--\(name)"), "\(name)") }
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
