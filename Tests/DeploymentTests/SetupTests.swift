import TestKit
import Testing

/// `scripts/setup` installs what each purpose needs, and no more.
@Suite struct SetupTests {
    private static let setup = RepositoryRoot.file("scripts/setup")

    @Test func aBuildAndTheDemoNeedNoToolsOfTests() throws {
        let build = try Self.packages("--build")
        #expect(build.isSuperset(of: ["libvips-dev", "libzmq3-dev", "libvips-tools", "python3"]))
        let tools = [
            "chromium", "nginx", "haproxy", "apache2-bin", "redis-server", "zsh", "dpkg-dev", "wrk",
        ]
        #expect(build.isDisjoint(with: tools), "\(build.intersection(tools))")
    }

    @Test func eachPurposeIncludesABuild() throws {
        let build = try Self.packages("--build")
        for purpose in ["--develop", "--test", "--bench", "--emulation"] {
            #expect(try Self.packages(purpose).isStrictSuperset(of: build), "\(purpose)")
        }
        let test = try Self.packages("--test")
        #expect(test.isSuperset(of: ["chromium", "nginx", "haproxy", "redis-server"]))
        #expect(try Self.packages() == test, "the default")
    }

    /// The scripts of README's two commands install what they start.
    @Test(arguments: [("scripts/demo", "--build"), ("scripts/test", "--test")])
    func readmesCommandsInstallWhatTheyNeed(script: String, purpose: String) throws {
        let text = try #require(FileBytes.text(RepositoryRoot.file(script)))
        #expect(text.contains("scripts/setup \(purpose)\n"))
    }

    @Test func anUnknownPurposeIsRefused() throws {
        let run = try CommandLineRun(program: Self.setup, ["--browser", "--list"]).end()
        #expect(run.exitStatus != 0 && run.errorText.hasPrefix("usage: scripts/setup"))
    }

    private static func packages(_ purpose: String...) throws -> Set<String> {
        let run = try CommandLineRun(program: setup, purpose + ["--list"]).end()
        try #require(run.exitStatus == 0, "\(run)")
        return Set(run.outputText.split(separator: "\n").map(String.init))
    }

    /// `scripts/docs`, which `scripts/test` runs, needs tools that only some toolchains include.
    @Test func aToolchainWithoutDocCIsNamed() throws {
        let folder = TemporaryDirectory()
        let target = "{ \"paths\": {\n \"runtimeResourcePath\": \"\(folder.path)/lib/swift\"\n} }"
        folder.write(Array("#!/bin/sh\ncat <<'E'\n\(target)\nE\n".utf8), to: "swift")
        let run = try CommandLineRun(
            program: "/usr/bin/env",
            [
                "PATH=\(folder.path):/usr/bin:/bin", "sh", "-c",
                "chmod +x '\(folder.file("swift"))' && exec \"$0\"",
                RepositoryRoot.file("scripts/docs"),
            ]
        ).end()
        #expect(run.errorText == "docs: this toolchain has no docc\n")
        #expect(run.exitStatus == 69)
    }
}
