import Linux
import Testing

@Suite struct FileDescriptorTests {
    let root: TestDirectory

    init() throws { root = try TestDirectory() }

    @Test func bytesComeBackFromTheirOffsets() throws {
        let file = try root.directory.open("a", [.readWrite, .create, .exclusive])
        try file.writeAll(Array("hello world".utf8))
        try file.writeAll(Array("W".utf8), at: 6)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
        defer { buffer.deallocate() }
        let count = try file.readFully(into: buffer, at: 6)
        #expect(String(decoding: buffer[..<count], as: UTF8.self) == "World")
        #expect(try file.status().size == 11)
    }

    @Test func readingStopsAtTheEnd() throws {
        let file = try root.file("a", "0123456789")
        for count in [8, 10, 20] {
            #expect(try file.bytes(count: count) == Array("0123456789".utf8.prefix(count)))
        }
    }

    @Test func moreBytesThanAllowedAreAnError() throws {
        _ = try root.file("a", "0123456789")
        let exact = try root.directory.open("a").readToEnd(bytesMax: 10)
        #expect(exact.count == 10)
        #expect(throws: Errno.fileTooLarge) {
            try root.directory.open("a").readToEnd(bytesMax: 9)
        }
    }

    @Test func exclusiveCreationRefusesATakenName() throws {
        _ = try root.file("a", "")
        #expect(throws: Errno.fileExists) {
            _ = try root.directory.open("a", [.readWrite, .create, .exclusive])
        }
    }

    @Test func aLinkIsNoDirectory() throws {
        try root.directory.makeDirectory("real")
        try root.link("link", to: "real")
        _ = try root.directory.openDirectory("real")
        #expect(throws: Errno.notDirectory) { _ = try root.directory.openDirectory("link") }
        #expect(throws: Errno.symbolicLink) {
            _ = try root.directory.open("link", [.noFollow])
        }
        #expect(try root.directory.status(of: "link").type == .symbolicLink)
    }

    @Test func aZeroByteInAPathIsRefused() {
        #expect(throws: Errno.invalidArgument) { _ = try FileDescriptor.open("/tmp\0/x") }
        #expect(throws: Errno.invalidArgument) { try root.directory.unlink("a\0b") }
    }

    @Test func statusTellsModeOwnerAndIdentity() throws {
        let file = try root.file("a", "x")
        try file.setMode(0o640)
        let status = try file.status()
        #expect(status.type == .regular)
        #expect(status.mode == 0o640)
        #expect(status.userID == CurrentProcess.userID)
        #expect(status.links == 1)
        #expect(try root.directory.status(of: "a").inode == status.inode)
        #expect(try root.directory.status().type == .directory)
        try root.directory.setMode(0o600, of: "a")
        #expect(try file.status().mode == 0o600)
    }

    @Test func namesAreListedRenamedAndRemoved() throws {
        for index in 0..<300 { _ = try root.file("file-\(index)", "") }
        try root.directory.rename("file-7", to: "seven")
        try root.directory.unlink("file-8")
        let names = Set(try root.reopened().entries())
        #expect(names.count == 299)
        #expect(names.contains("seven"))
        #expect(!names.contains("file-7") && !names.contains("file-8"))
        #expect(throws: Errno.fileTooLarge) { try root.reopened().entries(entriesMax: 10) }
    }

    @Test func aRenameMovesBetweenDirectories() throws {
        try root.directory.makeDirectory("sub")
        _ = try root.file("a", "moved")
        try root.directory.rename("a", to: "sub/b")
        let sub = try root.directory.openDirectory("sub")
        #expect(try sub.open("b").readToEnd(bytesMax: 10) == Array("moved".utf8))
        #expect(throws: Errno.noSuchFile) { try root.directory.status(of: "a") }
        #expect(throws: Errno.notEmpty) { try root.directory.removeDirectory("sub") }
    }

    @Test func removingATreeLeavesWhatLinksPointTo() throws {
        let outside = try TestDirectory()
        _ = try outside.file("kept", "")
        try root.directory.makeDirectory("tree")
        let tree = try root.directory.openDirectory("tree")
        try tree.makeDirectory("inner")
        _ = try tree.openDirectory("inner").open("f", [.create, .writeOnly])
        try root.link("tree/out", to: outside.path)
        try root.directory.removeTree("tree")
        #expect(throws: Errno.noSuchFile) { try root.directory.status(of: "tree") }
        #expect(try outside.directory.status(of: "kept").type == .regular)
    }

    @Test func aRelinquishedDescriptorStaysOpen() throws {
        let number = try root.file("a", "still open").relinquish()
        let again = FileDescriptor(owning: number)
        #expect(try again.status().size == 10)
    }

    @Test func aClosedDescriptorIsClosed() throws {
        let pipe = try FileDescriptor.pipe()
        let reading = pipe.readEnd
        let writing = pipe.writeEnd
        try writing.close()
        #expect(try reading.readToEnd(bytesMax: 1).isEmpty)
    }

    @Test func aNonBlockingReadOfNothingWouldBlock() throws {
        let pipe = try FileDescriptor.pipe()
        try pipe.readEnd.setNonBlocking()
        #expect(throws: Errno.wouldBlock) { try pipe.readEnd.readToEnd(bytesMax: 1) }
        #expect(try pipe.readEnd.wait(for: .readable, milliseconds: 0) == false)
        try pipe.writeEnd.writeAll([1])
        #expect(try pipe.readEnd.wait(for: .readable, milliseconds: 1_000))
    }

    @Test func anExclusiveLockKeepsOthersOutUntilItsFileIsClosed() throws {
        let holder = try root.file("lock", "")
        let other = try root.directory.open("lock", .readWrite)
        #expect(try holder.tryLock(.exclusive))
        #expect(try !other.tryLock(.exclusive))
        #expect(try !other.tryLock(.shared))
        try holder.close()
        #expect(try other.tryLock(.shared))
        let third = try root.directory.open("lock", .readWrite)
        #expect(try third.tryLock(.shared))
        #expect(try !third.tryLock(.exclusive))
        try other.unlock()
        #expect(try third.tryLock(.exclusive))
    }
}
