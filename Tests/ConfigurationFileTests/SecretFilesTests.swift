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

    /// A configuration that uses the secret, and others.
    private func configuration(_ others: String = "") throws -> Configuration {
        let header = "headers: {K: {file: \(folder.file("key"))}}"
        return try read("profiles: {default: {rules: [{match: '*', \(header)}\(others)]}}")
    }

    /// A coordinator's configuration and the files of its secrets.
    private final class Holder {
        private(set) var configuration = Configuration()
        private var files = SecretFiles()

        /// The values of the secrets.
        var secrets: [String] { configuration.secrets.values.sorted() }
        var isUsing: Bool { files.areUsed(by: configuration) }

        /// Replaces the configuration by `next`, which is the first one if `isStart`.
        func take(_ next: Configuration, isStart: Bool = false) throws {
            var next = next
            try files.fill(&next, path: "f", after: isStart ? nil : configuration)
            configuration = next
        }

        func refresh() -> Bool { files.refresh(&configuration) }

        func drainNotes() -> [String] { files.drainNotes().map(\.reason) }
    }

    private let holder = Holder()

    private func remove() throws {
        try FileDescriptor.open(folder.path, .directory).unlink("key")
    }

    /// Why the configuration is refused.
    private func refusal() throws -> ConfigurationFileError? {
        let configuration = try configuration()
        return #expect(throws: ConfigurationFileError.self) { try holder.take(configuration) }
    }

    @Test(arguments: ["one", "one\n", "one\r\n"])
    func aSecretIsOneLine(text: String) throws {
        try write(text)
        try holder.take(configuration())
        #expect(holder.secrets == ["one"])
        #expect(holder.drainNotes().isEmpty)
    }

    @Test(arguments: ["", "\n", "a\nb\n", "a\u{1}", String(repeating: "a", count: 16_385)])
    func whatIsNoSecretIsRefusedWithoutBeingShown(text: String) throws {
        try write(text)
        let error = try refusal()
        #expect(error?.description.contains(folder.file("key")) == true)
        #expect(error?.description.contains("aaa") == false)
    }

    @Test func aSecretThatOthersMayReadIsNoted() throws {
        try write("one", mode: 0o644)
        try holder.take(configuration())
        #expect(holder.drainNotes() == ["the secret is readable by other users"])
        #expect(holder.drainNotes().isEmpty)
    }

    @Test func aChangedFileIsReadAgainAndALostOneKeepsItsValue() throws {
        try write("one")
        try holder.take(configuration())
        #expect(!holder.refresh())
        try write("two")
        #expect(holder.refresh())
        #expect(holder.secrets == ["two"])
        try remove()
        #expect(!holder.refresh())
        #expect(!holder.refresh())
        #expect(holder.secrets == ["two"])
        #expect(holder.drainNotes().count == 1)
    }

    @Test func atTheStartAMissingSecretIsNotedAndTakenWhenItComes() throws {
        try holder.take(configuration(), isStart: true)
        #expect(holder.secrets.isEmpty)
        #expect(holder.isUsing)
        let notes = holder.drainNotes()
        #expect(notes.count == 1)
        #expect(notes.first?.hasSuffix("requests that need it are refused") == true)
        #expect(!holder.refresh())
        #expect(holder.drainNotes().isEmpty, "once")
        try write("one")
        #expect(holder.refresh())
        #expect(holder.secrets == ["one"])
    }

    @Test func aReloadDoesWithoutWhatWasMissingBeforeItToo() throws {
        try holder.take(configuration(), isStart: true)
        _ = holder.drainNotes()
        try holder.take(configuration())
        #expect(holder.secrets.isEmpty)
        let note = holder.drainNotes().first
        #expect(note?.hasSuffix("requests that need it are refused") == true)
        try write("one")
        #expect(holder.refresh())
        #expect(holder.secrets == ["one"])
    }

    @Test func aReloadRefusesToLoseASecret() throws {
        try write("one")
        try holder.take(configuration(), isStart: true)
        try remove()
        let error = try refusal()
        #expect(error?.description.contains(folder.file("key")) == true)
        #expect(holder.secrets == ["one"])
    }

    @Test func whatOnlyThisProcessStillHasWouldBeLost() throws {
        try write("one")
        let next = try configuration()
        try holder.take(next, isStart: true)
        let current = holder.configuration
        #expect(SecretFiles.loss(from: current, to: next) == nil)
        try remove()
        let loss = SecretFiles.loss(from: current, to: next)
        #expect(loss?.path == folder.file("key"))
        #expect(loss?.reason.contains("a new coordinator would lose the value") == true)
        #expect(SecretFiles.loss(from: next, to: next) == nil, "it never had one")
        #expect(SecretFiles.loss(from: current, to: Configuration()) == nil, "no longer used")
    }

    @Test(arguments: [[0x61, 0xE9], [0xFF], [0x61, 0xC3]] as [[UInt8]])
    func whatIsNotUTF8IsRefusedAndNotMended(bytes: [UInt8]) throws {
        try write(bytes, mode: 0o600)
        #expect(
            try refusal()?.problems.map(\.reason) == [
                "\(folder.file("key")): the secret is not a single line of UTF-8 text"
            ])
    }

    @Test(arguments: [0o620, 0o602, 0o666] as [UInt32])
    func aSecretThatOthersMayWriteIsRefused(mode: UInt32) throws {
        try write("one", mode: mode)
        let error = try refusal()
        #expect(error?.description.contains("is writable by users other than its owner") == true)
    }

    @Test(.enabled(if: CurrentProcess.userID == 0)) func aSecretOfAnotherUserIsRefused() throws {
        try write("one")
        try FileDescriptor.open(folder.file("key")).setOwner(userID: 12_345, groupID: 0)
        #expect(try refusal()?.description.contains("belongs to user 12345") == true)
    }

    @Test func aFileThatLooksTheSameIsNotReadAgain() throws {
        try write("one")
        pretend(changedAt: 1_000)
        try holder.take(configuration())
        try FileDescriptor.open(folder.file("key"), .writeOnly).writeAll(Array("two".utf8))
        pretend(changedAt: 1_000)
        #expect(!holder.refresh())
        #expect(holder.secrets == ["one"])
        pretend(changedAt: 1_001)
        #expect(holder.refresh())
        #expect(holder.secrets == ["two"])
    }

    @Test func aRefusedConfigurationLeavesTheSecretsOfTheOneBeforeIt() throws {
        try write("one")
        pretend(changedAt: 1_000)
        try holder.take(configuration(), isStart: true)
        try write("two")
        pretend(changedAt: 1_001)
        let new = try configuration(", {match: '*', headers: {L: {file: /nowhere/key}}}")
        #expect(throws: ConfigurationFileError.self) { try holder.take(new) }
        #expect(holder.refresh())
        #expect(holder.secrets == ["two"])
    }

    @Test func aFileThatIsMissingIsRefused() throws {
        #expect(try refusal() != nil)
    }
}
