import ImageModel
import Linux
import TestKit
import Testing

@testable import imagebus_cli

@Suite struct OutputFileTests {
    private let folder = TestKit.TemporaryDirectory()

    private func write(_ text: String, to path: String) throws(ImageError) {
        let whole = Array(text.utf8)
        try whole.span.bytes.withUnsafeBytes { (bytes) throws(ImageError) in
            try OutputFile.write(bytes, to: path)
        }
    }

    @Test func aFileIsReplacedWholeAndNothingElseIsLeft() throws {
        let path = folder.write(Array("an older and longer text".utf8), to: "a.jpg")
        let old = try FileDescriptor.open(path)
        try write("new", to: path)
        #expect(FileBytes.text(path) == "new")
        #expect(folder.entries == ["a.jpg"])
        // Whoever reads the old one reads all of it.
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

    @Test func aFolderThatIsNotThereIsNamed() {
        let path = folder.file("nowhere/a.jpg")
        do throws(ImageError) {
            try write("x", to: path)
            Issue.record("written to nowhere")
        } catch {
            #expect(error.message.contains(path) && error.message.contains("ENOENT"))
        }
    }
}
