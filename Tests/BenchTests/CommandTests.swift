import CommandLineInterface
import Testing

@testable import imagebus_bench

@Suite struct CommandTests {
    @Test func theTableNamesEveryKind() {
        #expect(
            Command.bench.operands.first?.offered.sorted()
                == Scenario.all.map(\.name).sorted())
    }
}
