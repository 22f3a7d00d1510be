import TestKit
import Testing

/// `scripts/docs`, which `scripts/test` runs, needs tools that only some toolchains include.
@Suite struct LibraryDocumentsTests {
    @Test func aToolchainWithoutDocCIsNamed() throws {
        let folder = TemporaryDirectory()
        let targetInfo =
            "{ \"paths\": {\n \"runtimeResourcePath\": \"\(folder.path)/lib/swift\"\n} }"
        folder.write(Array("#!/bin/sh\ncat <<'E'\n\(targetInfo)\nE\n".utf8), to: "swift")
        let run = try #require(
            Command.run([
                "env", "PATH=\(folder.path):/usr/bin:/bin", "sh", "-c",
                "chmod +x '\(folder.file("swift"))' && exec \"$0\"",
                RepositoryRoot.file("scripts/docs"),
            ]))
        #expect(run.output == "docs: this toolchain has no docc\n")
        #expect(run.status >> 8 == 69)
    }
}
