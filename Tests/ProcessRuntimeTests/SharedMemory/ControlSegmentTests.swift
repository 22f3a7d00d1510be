import Glibc
import Linux
import Model
import TestKit
import Testing

@testable import ProcessRuntime

/// A control segment of this process; `FaultTests` covers the fault handler's output.
@Suite(.serialized) struct ControlSegmentTests {
    private let incarnation = Incarnation(Identifier128(high: 1, low: 2))
    private let folder = TestKit.TemporaryDirectory()

    private var reader: ControlReader { ControlReader(directory: folder.path) }

    /// Writes the words as the fault handler would leave them.
    private func write(_ words: [UInt64], in folder: TestKit.TemporaryDirectory? = nil) {
        // The words about the session aren't part of the crash record.
        let all = words.count == 7 ? words + [1, 0] : words
        let bytes = all.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        (folder ?? self.folder).write(bytes, to: "\(incarnation.value.hex).0")
    }

    @Test func aHeartbeatGrowsAndALivingProcessHasNoCrash() throws {
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
        do { _ = try ControlSegment(in: folder.path, incarnation: incarnation) }
        #expect(try FileDescriptor.openDirectory(folder.path).entries().isEmpty)
    }

    @Test func aCrashNamesItsJob() throws {
        write([ControlLayout.magicValue, 5, 9, 9, 7, 2, 11])
        let record = reader.crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: JobID(7), attempt: 2, signal: 11))
    }

    @Test func aCrashWithoutAJobIsARecordOfItsOwn() throws {
        write([ControlLayout.magicValue, 5, 0, 9, 0, 9, 6])
        let record = reader.crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: nil, attempt: 9, signal: 6))
    }

    @Test(arguments: [
        (ControlVerdict.stoodStill, CrashRecord.Cause.stoodStill), (.didNotStop, .didNotStop),
        (.cancelledHard, .cancelledHard),
    ])
    func aVerdictIsHeldAgainstTheJobThatIsHeld(
        _ verdict: ControlVerdict, _ cause: CrashRecord.Cause
    ) throws {
        let segment = try ControlSegment(in: folder.path, incarnation: incarnation)
        segment.hold(JobID(7), attempt: 2)
        try verdict.leave(in: folder.path, for: incarnation)
        let record = reader.crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: JobID(7), attempt: 2, cause: cause))
        segment.holdNothing()
        #expect(reader.crashRecord(of: incarnation)?.job == nil)
    }

    @Test func whoBlamesItsJobLeavesTheRecordBehind() throws {
        do {
            var segment = try ControlSegment(in: folder.path, incarnation: incarnation)
            segment.hold(JobID(7), attempt: 2)
            segment.blameJob(.didNotStop)
        }
        let record = reader.crashRecord(of: incarnation)
        #expect(record == CrashRecord(job: JobID(7), attempt: 2, cause: .didNotStop))
    }

    @Test func aVerdictIsWrittenIntoNothingButASegment() throws {
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
        write(words)
        #expect(reader.crashRecord(of: incarnation) == nil)
    }

    /// Opening it for reading would block until a writer appears.
    @Test func aPipeInItsPlaceKeepsNobody() throws {
        #expect(mkfifo(folder.file("\(incarnation.value.hex).0"), 0o600) == 0)
        #expect(reader.heartbeat(of: incarnation) == nil)
    }

    @Test func aLinkIsNotFollowed() throws {
        let target = TestKit.TemporaryDirectory()
        write([ControlLayout.magicValue, 5, 0, 0, 7, 2, 11], in: target)
        let name = "\(incarnation.value.hex).0"
        #expect(symlink(target.file(name), folder.file(name)) == 0)
        #expect(reader.crashRecord(of: incarnation) == nil)
    }
}
