import Configuration
import ConfigurationFile
import Linux
import TestKit
import Testing

/// Secrets in real files.
@Suite struct SecretFilesTests {
    private let folder = TestKit.TemporaryDirectory()

    private func write(_ text: String, mode: UInt32 = 0o600) throws {
        let path = folder.file("key")
        try? FileDescriptor.open(folder.path, .directory).unlink("key")
        let file = try FileDescriptor.open(path, [.writeOnly, .create, .exclusive], mode: mode)
        try file.writeAll(Array(text.utf8))
    }

    private func configuration() throws -> Configuration {
        let header = "headers: {K: {file: \(folder.file("key"))}}"
        let text = "profiles: {default: {rules: [{match: '*', \(header)}]}}"
        return try ConfigurationFile.configuration(Array(text.utf8), path: "f")
    }

    @Test(arguments: ["one", "one\n", "one\r\n"])
    func aSecretIsOneLine(text: String) throws {
        try write(text)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f")
        #expect(configuration.secrets.values.sorted() == ["one"])
        let found1 = secrets.takeNotes()
        #expect(found1.isEmpty)
    }

    @Test(arguments: ["", "\n", "a\nb\n", "a\u{1}", String(repeating: "a", count: 16_385)])
    func whatIsNoSecretIsRefusedWithoutBeingShown(text: String) throws {
        try write(text)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        let error = #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&configuration, path: "f")
        }
        #expect(error?.description.contains(folder.file("key")) == true)
        #expect(error?.description.contains("aaa") == false)
    }

    @Test func aSecretThatOthersMayReadIsNoted() throws {
        try write("one", mode: 0o644)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f")
        let found2 = secrets.takeNotes()
        #expect(found2.map(\.reason) == ["others may read this secret"])
        let found3 = secrets.takeNotes()
        #expect(found3.isEmpty)
    }

    @Test func aChangedFileIsReadAgainAndALostOneKeepsItsValue() throws {
        try write("one")
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f")
        let found4 = secrets.refresh(&configuration)
        #expect(!found4)
        try write("two")
        let found5 = secrets.refresh(&configuration)
        #expect(found5)
        #expect(configuration.secrets.values.sorted() == ["two"])
        try FileDescriptor.open(folder.path, .directory).unlink("key")
        let found6 = secrets.refresh(&configuration)
        #expect(!found6)
        let found7 = secrets.refresh(&configuration)
        #expect(!found7)
        #expect(configuration.secrets.values.sorted() == ["two"])
        let found8 = secrets.takeNotes()
        #expect(found8.count == 1)
    }

    @Test func aFileThatIsMissingIsRefused() throws {
        var (configuration, secrets) = (try configuration(), SecretFiles())
        #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&configuration, path: "f")
        }
    }
}
