import TestKit
import Testing

/// Every program that a test starts is a product of the build that `scripts/test` makes.
@Suite struct TestProgramTests {
    @Test func scriptsTestBuildsEveryProgramThatATestStarts() throws {
        let missing = Self.programs.subtracting(try Manifest(parts: try Self.parts()).programs)
        #expect(missing.isEmpty, "scripts/test does not build \(missing.sorted())")
    }

    /// The build for users leaves some of them out, so the check above can fail.
    @Test func theBuildForUsersLeavesProgramsOut() throws {
        let missing = Self.programs.subtracting(try Manifest(parts: "programs").programs)
        #expect(missing.contains("dictionary-cache") && !missing.contains("imagebus"))
    }

    /// Swift tests can only start programs of `TestedProgram`; Python tests name programs by path.
    @Test func pythonTestsStartOnlyNamedPrograms() throws {
        let folders = [
            "Examples/Python", "Tests/Web", "Tests/Outsider", "Tests/IIIF", "Tests/Sweep",
        ]
        var started: Set<String> = []
        for path in folders.flatMap(RepositoryFiles.paths) where path.hasSuffix(".py") {
            for line in RepositoryFiles.lines(of: path) {
                started.formUnion(
                    line.matches(of: /PROGRAMS \/ "([^"]+)/).map { String($0.output.1) })
            }
        }
        #expect(started.contains("imagebus") && started.isSubset(of: Self.programs), "\(started)")
    }

    private static var programs: Set<String> { Set(TestedProgram.allCases.map(\.rawValue)) }

    /// The argument that `scripts/test` passes to `scripts/build`, by its name in Package.swift.
    private static func parts() throws -> String {
        let line = RepositoryFiles.lines(of: "scripts/test").first {
            $0.hasPrefix("scripts/build")
        }
        guard let option = try #require(line).split(separator: " ").dropFirst().first else {
            return "programs"
        }
        let build = RepositoryFiles.lines(of: "scripts/build")
        try #require(build.contains { $0.contains("== \(option) ]]") }, "an unknown \(option)")
        return String(option.dropFirst(2))
    }
}
