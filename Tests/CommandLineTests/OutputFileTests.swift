import CommandLineInterface
import Linux
import TestKit
import Testing

@testable import imagebus_cli

@Suite struct OutputFileTests {
    private let folder = TestKit.TemporaryDirectory()

    private func write(_ text: String, to path: String) throws(OutputError) {
        try OutputFile(path).write(Array(text.utf8))
    }

    @Test func aFileIsReplacedWholeAndNothingElseIsLeft() throws {
        let path = folder.write(Array("an older and longer text".utf8), to: "a.jpg")
        let old = try FileDescriptor.open(path)
        try write("new", to: path)
        #expect(FileBytes.text(path) == "new")
        #expect(folder.entries == ["a.jpg"])
        // A reader of the old file can read all of it.
        #expect(try old.readToEnd(bytesMax: 100).count == 24)
    }

    @Test func aLinkIsWrittenThrough() throws {
        let path = folder.write([1], to: "target")
        let child = try ChildProcess(ChildCommand("/bin/ln", ["-s", path, folder.file("link")]))
        try #require(try child.wait().isSuccess)
        try write("new", to: folder.file("link"))
        #expect(FileBytes.text(path) == "new")
        #expect(
            try FileDescriptor.open(folder.path, .directory).status(of: "link").type
                == .symbolicLink)
    }

    @Test func aDeviceStaysADevice() throws {
        try write("anything", to: "/dev/null")
        #expect(try FileDescriptor.open("/dev", .directory).status(of: "null").type == .other)
    }

    @Test func whoWaitsToReadAPipeGetsTheOutputAndNotTheTrial() throws {
        let path = folder.file("pipe")
        let maker = try ChildProcess(ChildCommand("/usr/bin/mkfifo", [path]))
        try #require(try maker.wait().isSuccess)
        let copy = "cat '\(path)' > '\(folder.file("out"))'"
        let child = try ChildProcess(ChildCommand("/bin/sh", ["-c", copy]))
        try OutputFile(path).check()
        try write("new", to: path)
        #expect(try child.wait().isSuccess)
        #expect(FileBytes.text(folder.file("out")) == "new")
    }

    @Test func aFolderThatIsNotThereIsNamed() {
        let path = folder.file("nowhere/a.jpg")
        let error = #expect(throws: OutputError.self) { try write("x", to: path) }
        #expect(error?.message.contains(path) == true && error?.reason == .noSuchFile)
        #expect(error?.message.contains("ENOENT") == true)
    }

    private func fault(_ path: String) -> OutputError? {
        do throws(OutputError) {
            try OutputFile(path).check()
            return nil
        } catch {
            return error
        }
    }

    @Test func whatCannotBeWrittenIsFoundBefore() throws {
        let file = folder.write([1, 2], to: "a.jpg")
        try FileDescriptor.makeDirectory(path: folder.file("b"))
        for (path, reason) in [
            (folder.file("nowhere/a.jpg"), Errno.noSuchFile), (folder.file("b"), .isDirectory),
            (folder.file("b/"), .isDirectory), (file + "/c", .notDirectory),
            (folder.file(String(repeating: "n", count: 300)), .nameTooLong),
        ] {
            let fault = fault(path)
            #expect(fault?.reason == reason)
            #expect(fault?.exitStatus == 73)
            #expect(fault?.message.contains(path) == true)
        }
    }

    @Test func aLookLeavesEverythingAsItIs() throws {
        let file = folder.write([1, 2], to: "a.jpg")
        for path in [file, folder.file("new.jpg"), "/dev/null", "/dev/full"] {
            #expect(fault(path) == nil, "\(path)")
        }
        #expect(FileBytes.read(file) == [1, 2])
        #expect(folder.entries == ["a.jpg"])
    }

    @Test func aFullDiskIsAnErrorOfWriting() {
        let error = #expect(throws: OutputError.self) { try write("x", to: "/dev/full") }
        #expect(error?.exitStatus == 74 && error?.reason == .noSpace)
        #expect(error?.message.contains("free some space") == true)
    }
}
