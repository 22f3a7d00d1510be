import Glibc
import Linux
import TestKit
import Testing

@testable import Coordinator

/// The key of an installation in real files.
@Suite struct IdentityKeyFileTests {
    private let folder = TestKit.TemporaryDirectory()
    private let whole = [UInt8](repeating: 7, count: 32)

    private var file: IdentityKeyFile { IdentityKeyFile(path: folder.file("key")) }

    private func fault() -> IdentityKeyError.Problem? {
        let error = #expect(throws: IdentityKeyError.self) { try file.key() }
        #expect(error?.description.contains(file.path) == true)
        return error?.fault
    }

    @Test func aKeyIsMadeOnceAndNothingElseIsLeft() throws {
        let key = try file.key()
        #expect(key.count == 32)
        #expect(FileBytes.read(file.path) == key)
        #expect(folder.entries == ["key"])
        #expect(try file.key() == key)
        let status = try FileDescriptor.open(file.path).status()
        #expect(status.mode == 0o600)
    }

    @Test(arguments: [0, 1, 31, 32])
    func whatACrashLeftOfAKeyIsNone(count: Int) throws {
        folder.write(Array(whole.prefix(count)), to: "key.new")
        let key = try file.key()
        #expect(key.count == 32 && key != whole)
        #expect(FileBytes.read(file.path) == key)
        #expect(folder.entries == ["key"])
    }

    @Test func manyAtATimeHaveTheSameKey() async throws {
        for _ in 0..<20 {
            let folder = TestKit.TemporaryDirectory()
            let path = folder.file("key")
            let keys = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<8 { group.addTask { try IdentityKeyFile(path: path).key() } }
                var keys: Set<[UInt8]> = []
                for try await key in group { keys.insert(key) }
                return keys
            }
            #expect(keys.count == 1)
            #expect(FileBytes.read(path) == keys.first)
            #expect(folder.entries == ["key"])
        }
    }

    @Test(arguments: [0, 31, 33])
    func whatIsNoKeyStays(count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        folder.write(bytes, to: "key")
        #expect(fault() == .length)
        #expect(FileBytes.read(file.path) == bytes)
    }

    @Test func aKeyMayBeALink() throws {
        let real = folder.write(whole, to: "real")
        #expect(symlink(real, file.path) == 0)
        #expect(try file.key() == whole)
    }

    @Test func noKeyIsMadeThroughALink() {
        #expect(symlink(folder.file("nowhere"), file.path) == 0)
        #expect(fault() == .deadLink)
        #expect(folder.entries == ["key"])
    }

    @Test func noKeyIsWrittenThroughALinkBesideIt() {
        let other = folder.write(Array("other".utf8), to: "other")
        #expect(symlink(other, folder.file("key.new")) == 0)
        #expect(fault() == .notCreated(.symbolicLink))
        #expect(FileBytes.read(other) == Array("other".utf8))
    }

    @Test func aKeyThatCannotBeReadOrMadeIsNamed() throws {
        let nowhere = IdentityKeyFile(path: folder.file("nowhere/key"))
        let error = #expect(throws: IdentityKeyError.self) { try nowhere.key() }
        #expect(error?.fault == .notCreated(.noSuchFile))
        #expect(error?.description.contains(nowhere.path) == true)
        try FileDescriptor.makeDirectory(path: file.path)
        #expect(fault() == .unreadable(.isDirectory))
    }
}
