import CommandLineInterface
import Testing

@testable import imagebus_cli

@Suite struct StatusOptionsTests {
    private func options(_ arguments: String...) throws(UsageError) -> StatusOptions {
        try StatusOptions.read(arguments)
    }

    @Test func theFormIsATableUnlessSomethingElseIsWanted() throws {
        #expect(try options().format == .table)
        #expect(try options("--json").format == .json)
        #expect(try options("--prometheus").format == .prometheus)
        #expect(try options("--prometheus", "-o", "/tmp/a.prom").output == "/tmp/a.prom")
        #expect(try options("--watch", "--json").watches)
        #expect(try options("--watch", "--all").showsAll && !options().showsAll)
        #expect(throws: UsageError.self) { try options("--json", "--prometheus") }
        #expect(throws: UsageError.self) { try options("--watch", "--prometheus") }
        #expect(throws: UsageError.self) { try options("--watch", "-o", "x") }
    }
}
