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
}
