import Glibc
import Linux
import Model
import TestKit
import Testing

@testable import ProcessRuntime

/// A control segment of this process; `FaultTests` covers the fault handler's output.
@Suite(.serialized) struct ControlSegmentTests {
    private let incarnation = Incarnation(Identifier128(high: 1, low: 2))

    /// Writes the words as the fault handler would leave them.
    private func write(_ words: [UInt64], in folder: TestKit.TemporaryDirectory) {
        // The words about the session aren't part of the crash record.
        let all = words.count == 7 ? words + [1, 0] : words
        let bytes = all.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        folder.write(bytes, to: "\(incarnation.value.hex).0")
    }

    @Test func aHeartbeatGrowsAndALivingProcessHasNoCrash() throws {
        let folder = TestKit.TemporaryDirectory()
        let reader = ControlReader(directory: folder.path)
        #expect(reader.heartbeat(of: incarnation) == nil)
        var segment = try ControlSegment(in: folder.path, incarnation: incarnation)
        #expect(reader.heartbeat(of: incarnation) == 0)
        segment.beat(isWelcome: false)
        segment.hold(JobID(7), attempt: 2)
        segment.beat(isWelcome: true)
        #expect(reader.heartbeat(of: incarnation) == 2)
        #expect(reader.isWelcome(incarnation) == true)
        segment.beat(isWelcome: false)
        #expect(reader.isWelcome(incarnation) == false)
        #expect(reader.crashRecord(of: incarnation) == nil)
    }

    @Test func theFileGoesWithItsProcess() throws {
        let folder = TestKit.TemporaryDirectory()
        do { _ = try ControlSegment(in: folder.path, incarnation: incarnation) }
        #expect(try FileDescriptor.openDirectory(folder.path).entries().isEmpty)
    }

    @Test func aCrashNamesItsJob() throws {
        let folder = TestKit.TemporaryDirectory()
        write([ControlLayout.magicValue, 5, 9, 9, 7, 2, 11], in: folder)
        let record = ControlReader(directory: folder.path).crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: JobID(7), attempt: 2, signal: 11))
    }

    @Test func aCrashWithoutAJobIsARecordOfItsOwn() throws {
        let folder = TestKit.TemporaryDirectory()
        write([ControlLayout.magicValue, 5, 0, 9, 0, 9, 6], in: folder)
        let record = ControlReader(directory: folder.path).crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: nil, attempt: 9, signal: 6))
    }

    @Test(arguments: [
        (ControlVerdict.stoodStill, CrashRecord.Cause.stoodStill), (.didNotStop, .didNotStop),
        (.cancelledHard, .cancelledHard),
    ])
    func aVerdictIsHeldAgainstTheJobThatIsHeld(
        _ verdict: ControlVerdict, _ cause: CrashRecord.Cause
    ) throws {
        let folder = TestKit.TemporaryDirectory()
        let segment = try ControlSegment(in: folder.path, incarnation: incarnation)
        segment.hold(JobID(7), attempt: 2)
        try verdict.leave(in: folder.path, for: incarnation)
        let record = ControlReader(directory: folder.path).crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: JobID(7), attempt: 2, cause: cause))
        segment.holdNothing()
        #expect(ControlReader(directory: folder.path).crashRecord(of: incarnation)?.job == nil)
    }

    @Test func whoBlamesItsJobLeavesTheRecordBehind() throws {
        let folder = TestKit.TemporaryDirectory()
        do {
            var segment = try ControlSegment(in: folder.path, incarnation: incarnation)
            segment.hold(JobID(7), attempt: 2)
            segment.blameJob(.didNotStop)
        }
        let record = ControlReader(directory: folder.path).crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: JobID(7), attempt: 2, cause: .didNotStop))
    }

    @Test func aVerdictIsWrittenIntoNothingButASegment() throws {
        let folder = TestKit.TemporaryDirectory()
        let name = "\(incarnation.value.hex).0"
        #expect(throws: Errno.noSuchFile) {
            try ControlVerdict.stoodStill.leave(in: folder.path, for: incarnation)
        }
        folder.write([1, 2, 3], to: name)
        #expect(throws: Errno.invalidArgument) {
            try ControlVerdict.stoodStill.leave(in: folder.path, for: incarnation)
        }
        #expect(FileBytes.read(folder.file(name)) == [1, 2, 3])
        try FileDescriptor.openDirectory(folder.path).unlink(name)
        #expect(symlink("/dev/null", folder.file(name)) == 0)
        #expect(throws: Errno.symbolicLink) {
            try ControlVerdict.stoodStill.leave(in: folder.path, for: incarnation)
        }
    }

    @Test(
        arguments: [
            [], [ControlLayout.magicValue], [1, 2, 3, 4, 5, 6, 7],
            [ControlLayout.magicValue, 0, 0, 0, 1, 1, 0],
            [ControlLayout.magicValue, 0, 0, 0, 1, 1, 65],
            [ControlLayout.magicValue, 0, 0, 0, 1, 1, .max],
            [ControlLayout.magicValue, 0, 0, 0, 1, 1, 9],
            [ControlLayout.magicValue, 0, 0, 0, 1, 1 << 32, 11],
        ] as [[UInt64]])
    func whatIsNoRecordReadsAsNothing(words: [UInt64]) throws {
        let folder = TestKit.TemporaryDirectory()
        write(words, in: folder)
        let reader = ControlReader(directory: folder.path)
        #expect(reader.crashRecord(of: incarnation) == nil)
    }

    /// Opening it for reading would block until a writer appears.
    @Test func aPipeInItsPlaceKeepsNobody() throws {
        let folder = TestKit.TemporaryDirectory()
        #expect(mkfifo(folder.file("\(incarnation.value.hex).0"), 0o600) == 0)
        #expect(ControlReader(directory: folder.path).heartbeat(of: incarnation) == nil)
    }

    @Test func aLinkIsNotFollowed() throws {
        let folder = TestKit.TemporaryDirectory()
        let target = TestKit.TemporaryDirectory()
        write([ControlLayout.magicValue, 5, 0, 0, 7, 2, 11], in: target)
        let name = "\(incarnation.value.hex).0"
        #expect(symlink(target.file(name), folder.file(name)) == 0)
        let reader = ControlReader(directory: folder.path)
        #expect(reader.crashRecord(of: incarnation) == nil)
    }
}
