import CommandLineInterface
import Testing

@testable import imagebus_bench

@Suite struct CommandTests {
    @Test func theHelpHasEveryOptionOnceAndExamples() {
        let text = HelpText.text(of: .bench)
        let shown = Command.bench.definitions.filter { $0.visibility == .shown }
        for definition in shown { #expect(text.contains("--\(definition.name)")) }
        #expect(text.contains("examples:\n  imagebus bench"))
        let widest = text.split(separator: "\n").map(\.count).max() ?? 0
        #expect(widest <= 100)
        let names = Command.bench.definitions.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func theTableNamesEveryKind() {
        #expect(
            Command.bench.operands.first?.offered.sorted()
                == Scenario.all.map(\.name).sorted())
    }
}
