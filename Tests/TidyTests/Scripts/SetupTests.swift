import TestKit
import Testing

/// `scripts/setup` installs what each purpose needs, and no more.
@Suite struct SetupTests {
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
        let text = try #require(RepositoryFiles().text(of: script))
        #expect(text.contains("scripts/setup \(purpose)\n"))
    }

    @Test func anUnknownPurposeIsRefused() throws {
        let run = try #require(
            Command.run([RepositoryRoot.file("scripts/setup"), "--browser", "--list"]))
        #expect(run.status != 0 && run.output.hasPrefix("usage: scripts/setup"))
    }

    private static func packages(_ purpose: String...) throws -> Set<String> {
        let run = try #require(
            Command.run([RepositoryRoot.file("scripts/setup")] + purpose + ["--list"]))
        try #require(run.status == 0, "\(run.output)")
        return Set(run.output.split(separator: "\n").map(String.init))
    }
}
