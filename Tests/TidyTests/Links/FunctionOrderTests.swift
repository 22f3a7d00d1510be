import Glibc
import Testing

/// The output of `scripts/order-functions` is useful only as long as the coordinator has these
/// functions.
@Suite struct FunctionOrderTests {
    private static let order = "Sources/functions.order"
    private static let section = ".text."
    /// The percentage of listed functions that must exist: names change with every type.
    private static let known = 70

    @Test func theLinkerStillKnowsTheFunctionsOfTheOrder() throws {
        let listed = try Self.listed()
        #expect(listed.count > 500)
        guard let programs = getenv("IMAGEBUS_PROGRAMS").map({ String(cString: $0) }),
            // Debug programs are built without an order, and their functions have other names.
            programs.hasSuffix("/release")
        else { return }
        let result = try #require(
            Command.run(["nm", "--just-symbols", "\(programs)/imagebus-coordinator"]))
        try #require(result.status == 0, "\(result.output)")
        let there = Set(result.output.split(separator: "\n"))
        let found = listed.count { there.contains($0) }
        #expect(
            found * 100 >= listed.count * Self.known,
            "\(found) of \(listed.count) are there: run scripts/order-functions")
    }

    private static func listed() throws -> [Substring] {
        let text = try #require(RepositoryFiles().text(of: order))
        return text.split(separator: "\n").map { line in
            #expect(line.hasPrefix(section))
            return line.dropFirst(section.count)
        }
    }
}
