import TestKit
import Testing

/// Every program that a test starts is a product of the build that `scripts/test` makes.
@Suite struct TestProgramTests {
    @Test func scriptsTestBuildsEveryProgramThatATestStarts() throws {
        let missing = Self.programs.subtracting(try Self.products(of: try Self.parts()))
        #expect(missing.isEmpty, "scripts/test does not build \(missing.sorted())")
    }

    /// The build for users leaves some of them out, so the check above can fail.
    @Test func theBuildForUsersLeavesProgramsOut() throws {
        let missing = Self.programs.subtracting(try Self.products(of: "programs"))
        #expect(missing.contains("dictionary-cache") && !missing.contains("imagebus"))
    }

    /// Swift tests can only start programs of `TestedProgram`; Python tests name programs by path.
    @Test func pythonTestsStartOnlyNamedPrograms() throws {
        let files = RepositoryFiles()
        let folders = [
            "Examples/Python", "Tests/Web", "Tests/Outsider", "Tests/IIIF", "Tests/Sweep",
        ]
        var started: Set<String> = []
        for path in folders.flatMap({ files.paths(below: $0) }) where path.hasSuffix(".py") {
            let parts = try #require(files.text(of: path)).split(separator: "PROGRAMS / \"")
            started.formUnion(
                parts.dropFirst().compactMap { $0.split(separator: "\"").first }
                    .map(String.init))
        }
        #expect(started.contains("imagebus") && started.isSubset(of: Self.programs), "\(started)")
    }

    private static var programs: Set<String> { Set(TestedProgram.allCases.map(\.rawValue)) }

    /// The argument that `scripts/test` passes to `scripts/build`, by its name in Package.swift.
    private static func parts() throws -> String {
        let text = try #require(RepositoryFiles().text(of: "scripts/test"))
        let line = text.split(separator: "\n").first { $0.hasPrefix("scripts/build") }
        guard let option = try #require(line).split(separator: " ").dropFirst().first else {
            return "programs"
        }
        let build = try #require(RepositoryFiles().text(of: "scripts/build"))
        try #require(build.contains("== \(option) ]]"), "scripts/build does not know \(option)")
        return String(option.dropFirst(2))
    }

    /// The names of the programs in the package with these parts.
    private static func products(of parts: String) throws -> Set<String> {
        let script = """
            import json, sys
            text = sys.stdin.read()
            package = json.loads(text[text.index("{"):])
            programs = [p for p in package["products"] if "executable" in p["type"]]
            named = {target for program in programs for target in program["targets"]}
            targets = [t["name"] for t in package["targets"] if t["type"] == "executable"]
            names = [p["name"] for p in programs] + [t for t in targets if t not in named]
            print("\\n".join(names))
            """
        let root = RepositoryRoot.path
        let line = """
            cd "$0" && IMAGEBUS_PARTS="$1" swift package --scratch-path "$2" dump-package \
            2>/dev/null | python3 -c "$3"
            """
        let scratch = TemporaryDirectory()
        let run = try #require(
            Command.run(["bash", "-o", "pipefail", "-c", line, root, parts, scratch.path, script]))
        try #require(run.status == 0, "\(run.output)")
        return Set(run.output.split(separator: "\n").map(String.init))
    }
}
