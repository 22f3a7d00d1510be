import Curl
import Glibc
import Model
import StageKit
import Testing

@testable import Downloading

/// What happens to a file or its job while the file is being read.
@Suite struct FileReadingTests {
    private let folder = FolderOfFiles()

    private func task() throws -> FileTask {
        FileTask(
            JobID(1), try FilePath(try SourceURL("file:///a.jpg")),
            below: FileRoot(path: folder.root.path), bodyBytesMax: 1_000, validators: nil)
    }

    /// Its length stays the same, so that all expected bytes can be read.
    @Test func aFileThatIsWrittenMeanwhileIsNotDelivered() throws {
        let root = folder.root
        var times = [timespec(tv_sec: 1_000, tv_nsec: 0), timespec(tv_sec: 1_000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, root.file("a.jpg"), &times, 0) == 0)
        let calm = StageKit.HeapSpace()
        let body = try FileReading.read(try task(), into: calm)
        #expect(body.count == FolderOfFiles.bytes(of: "a.jpg").count && calm.outstanding == 1)
        let space = StageKit.HeapSpace(onReserve: {
            root.write(FolderOfFiles.bytes(of: "b.jpg"), to: "a.jpg")
        })
        let error = #expect(throws: ImageError.self) {
            try FileReading.read(try task(), into: space)
        }
        #expect(error?.code == .shortBody)
        #expect(space.outstanding == 0)
    }

    /// The job ended after the last bytes were read, before the loop saw the answer.
    @Test func theBlockOfAFileWhoseJobHasEndedIsReleased() throws {
        let configuration = DownloadConfiguration(version: "test")
        let space = HeapSpace()
        let loop = DownloadLoop(
            try TransferSet(try CurlLibrary.start(), policy: try configuration.policy()),
            configuration: configuration, inbox: DownloadInbox(jobsMax: 1), space: space,
            onProgress: { _ in }, onOutcome: { _ in Issue.record("the outcome was reported") })
        let body = LocalBody(block: try space.reserve(4), count: 4)
        loop.report(FileReaders.Answer(task: try task(), result: .success(body)))
        #expect(space.liveCount == 0)
    }
}
