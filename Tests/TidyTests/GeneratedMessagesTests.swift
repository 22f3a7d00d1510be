import TestKit
import Testing

/// The generated code of the messages is that of the schema.
@Suite struct GeneratedMessagesTests {
    @Test func generatedMessagesAreCurrent() throws {
        let made = TemporaryDirectory()
        let schema = RepositoryRoot.file("Proto")
        try Tool.run([
            "protoc-c", "--proto_path=\(schema)", "--c_out=\(made.path)", "imagebus.proto",
        ])
        for (name, folder) in [("imagebus.pb-c.c", ""), ("imagebus.pb-c.h", "include/")] {
            let generated = try #require(FileBytes.read(made.file(name)))
            let kept = FileBytes.read(
                RepositoryRoot.file("Sources/System/CMessages/\(folder)\(name)"))
            #expect(kept == generated, "\(name): run scripts/proto")
        }
    }

    @Test func generatedMappingsAreCurrent() throws {
        let made = TemporaryDirectory()
        let folder = "Sources/Runtime/Wire/Generated"
        let script = RepositoryRoot.file("scripts/wire-mapping")
        let run = try CommandLineRun(program: script, [made.path]).end()
        try #require(run.exitStatus == 0, "\(run)")
        let names = DirectoryEntries.names(made.path)
        #expect(!names.isEmpty && names == DirectoryEntries.names(RepositoryRoot.file(folder)))
        for name in names {
            let kept = FileBytes.read(RepositoryRoot.file("\(folder)/\(name)"))
            #expect(kept == FileBytes.read(made.file(name)), "\(name): run scripts/proto")
        }
    }
}
