import ConfigurationFile
import Glibc
import Linux
import Model
import TestKit
import Testing

/// Secrets in real files.
@Suite struct SecretFilesTests {
    private let folder = TestKit.TemporaryDirectory()

    private func write(_ text: String, mode: UInt32 = 0o600) throws {
        try write(Array(text.utf8), mode: mode)
    }

    private func write(_ bytes: [UInt8], mode: UInt32) throws {
        let path = folder.file("key")
        try? FileDescriptor.open(folder.path, .directory).unlink("key")
        let file = try FileDescriptor.open(path, [.writeOnly, .create, .exclusive], mode: mode)
        try file.writeAll(bytes)
        // Independently of the umask.
        try file.setMode(mode)
    }

    /// Sets the file's modification time to this second, which is long past.
    private func pretend(changedAt seconds: Int) {
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, folder.file("key"), [time, time], 0) == 0)
    }

    private func configuration() throws -> Configuration {
        let header = "headers: {K: {file: \(folder.file("key"))}}"
        let text = "profiles: {default: {rules: [{match: '*', \(header)}]}}"
        return try ConfigurationFile.check(Array(text.utf8), path: "f").configuration
    }

    @Test(arguments: ["one", "one\n", "one\r\n"])
    func aSecretIsOneLine(text: String) throws {
        try write(text)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f", after: Configuration())
        #expect(configuration.secrets.values.sorted() == ["one"])
        let found1 = secrets.drainNotes()
        #expect(found1.isEmpty)
    }

    @Test(arguments: ["", "\n", "a\nb\n", "a\u{1}", String(repeating: "a", count: 16_385)])
    func whatIsNoSecretIsRefusedWithoutBeingShown(text: String) throws {
        try write(text)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        let error = #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&configuration, path: "f", after: Configuration())
        }
        #expect(error?.description.contains(folder.file("key")) == true)
        #expect(error?.description.contains("aaa") == false)
    }

    @Test func aSecretThatOthersMayReadIsNoted() throws {
        try write("one", mode: 0o644)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f", after: Configuration())
        let found2 = secrets.drainNotes()
        #expect(found2.map(\.reason) == ["the secret is readable by other users"])
        let found3 = secrets.drainNotes()
        #expect(found3.isEmpty)
    }

    @Test func aChangedFileIsReadAgainAndALostOneKeepsItsValue() throws {
        try write("one")
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f", after: Configuration())
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
        let found8 = secrets.drainNotes()
        #expect(found8.count == 1)
    }

    @Test func atTheStartAMissingSecretIsNotedAndTakenWhenItComes() throws {
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f", after: nil)
        #expect(configuration.secrets.isEmpty)
        #expect(secrets.areUsed(by: configuration))
        let notes = secrets.drainNotes()
        #expect(notes.count == 1)
        #expect(notes.first?.reason.hasSuffix("requests that need it are refused") == true)
        let isStill = secrets.refresh(&configuration)
        #expect(!isStill)
        let more = secrets.drainNotes()
        #expect(more.isEmpty, "once")
        try write("one")
        let hasCome = secrets.refresh(&configuration)
        #expect(hasCome)
        #expect(configuration.secrets.values.sorted() == ["one"])
    }

    @Test func aReloadDoesWithoutWhatWasMissingBeforeItToo() throws {
        var (old, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&old, path: "f", after: nil)
        _ = secrets.drainNotes()
        var new = try configuration()
        try secrets.fill(&new, path: "f", after: old)
        #expect(new.secrets.isEmpty)
        let notes = secrets.drainNotes()
        #expect(notes.first?.reason.hasSuffix("requests that need it are refused") == true)
        try write("one")
        let hasCome = secrets.refresh(&new)
        #expect(hasCome)
        #expect(new.secrets.values.sorted() == ["one"])
    }

    @Test func aReloadRefusesToLoseASecret() throws {
        try write("one")
        var (old, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&old, path: "f", after: nil)
        try FileDescriptor.open(folder.path, .directory).unlink("key")
        var new = try configuration()
        let error = #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&new, path: "f", after: old)
        }
        #expect(error?.description.contains(folder.file("key")) == true)
        #expect(old.secrets.values.sorted() == ["one"])
    }

    @Test func whatOnlyThisProcessStillHasWouldBeLost() throws {
        try write("one")
        let next = try configuration()
        var (current, secrets) = (next, SecretFiles())
        try secrets.fill(&current, path: "f", after: nil)
        #expect(SecretFiles.loss(from: current, to: next) == nil)
        try FileDescriptor.open(folder.path, .directory).unlink("key")
        let loss = SecretFiles.loss(from: current, to: next)
        #expect(loss?.path == folder.file("key"))
        #expect(loss?.reason.contains("a new coordinator would lose the value") == true)
        #expect(SecretFiles.loss(from: next, to: next) == nil, "it never had one")
        #expect(SecretFiles.loss(from: current, to: Configuration()) == nil, "no longer used")
    }

    @Test(arguments: [[0x61, 0xE9], [0xFF], [0x61, 0xC3]] as [[UInt8]])
    func whatIsNotUTF8IsRefusedAndNotMended(bytes: [UInt8]) throws {
        try write(bytes, mode: 0o600)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        let error = #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&configuration, path: "f", after: Configuration())
        }
        #expect(
            error?.problems.map(\.reason) == [
                "\(folder.file("key")): the secret is not a single line of UTF-8 text"
            ])
    }

    @Test(arguments: [0o620, 0o602, 0o666] as [UInt32])
    func aSecretThatOthersMayWriteIsRefused(mode: UInt32) throws {
        try write("one", mode: mode)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        let error = #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&configuration, path: "f", after: Configuration())
        }
        #expect(error?.description.contains("is writable by users other than its owner") == true)
    }

    @Test(.enabled(if: CurrentProcess.userID == 0)) func aSecretOfAnotherUserIsRefused() throws {
        try write("one")
        try FileDescriptor.open(folder.file("key")).setOwner(userID: 12_345, groupID: 0)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        let error = #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&configuration, path: "f", after: Configuration())
        }
        #expect(error?.description.contains("belongs to user 12345") == true)
    }

    @Test func aFileThatLooksTheSameIsNotReadAgain() throws {
        try write("one")
        pretend(changedAt: 1_000)
        var (configuration, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&configuration, path: "f", after: Configuration())
        try FileDescriptor.open(folder.file("key"), .writeOnly).writeAll(Array("two".utf8))
        pretend(changedAt: 1_000)
        let looked = secrets.refresh(&configuration)
        #expect(!looked)
        #expect(configuration.secrets.values.sorted() == ["one"])
        pretend(changedAt: 1_001)
        let read = secrets.refresh(&configuration)
        #expect(read)
        #expect(configuration.secrets.values.sorted() == ["two"])
    }

    @Test func aRefusedConfigurationLeavesTheSecretsOfTheOneBeforeIt() throws {
        try write("one")
        pretend(changedAt: 1_000)
        var (old, secrets) = (try configuration(), SecretFiles())
        try secrets.fill(&old, path: "f", after: nil)
        try write("two")
        pretend(changedAt: 1_001)
        let missing = "{match: '*', headers: {L: {file: /nowhere/key}}}"
        let text =
            "profiles: {default: {rules: ["
            + "{match: '*', headers: {K: {file: \(folder.file("key"))}}}, \(missing)]}}"
        var new = try ConfigurationFile.check(Array(text.utf8), path: "f").configuration
        #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&new, path: "f", after: old)
        }
        let hasChanged = secrets.refresh(&old)
        #expect(hasChanged)
        #expect(old.secrets.values.sorted() == ["two"])
    }

    @Test func aFileThatIsMissingIsRefused() throws {
        var (configuration, secrets) = (try configuration(), SecretFiles())
        #expect(throws: ConfigurationFileError.self) {
            try secrets.fill(&configuration, path: "f", after: Configuration())
        }
    }
}
