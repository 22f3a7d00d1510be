import Linux
import Model
import TestKit
import Testing

@testable import ProcessRuntime

@Suite struct OrphanSegmentsTests {
    private let folder = TestKit.TemporaryDirectory()

    private func arena(_ number: UInt64) throws -> Arena {
        try Arena(
            directory: folder.path, name: .stage,
            incarnation: Incarnation(Identifier128(high: 0, low: number)),
            totalBytesMax: 1 << 20, isLocked: true)
    }

    private var names: [String] {
        get throws { try FileDescriptor.openDirectory(folder.path).entries().sorted() }
    }

    /// Files left by a killed process are removed; live segments and other files stay.
    @Test func segmentsThatNobodyHoldsAreRemoved() throws {
        let living = try arena(1)
        _ = try living.reserve(1)
        // Its locks are released with its last reference, and its files stay as after SIGKILL.
        do { _ = try arena(2).reserve(1) }
        folder.write([1], to: "note")
        #expect(try names.count == 3)
        #expect(try OrphanSegments.removeOrphans(in: folder.path) == 1)
        let name = SegmentName(
            incarnation: Incarnation(Identifier128(high: 0, low: 1)), number: 1)
        #expect(try names == [name.fileName, "note"].sorted())
        #expect(try OrphanSegments.removeOrphans(in: folder.path) == 0)
        living.unlinkAll()
        #expect(try names == ["note"])
    }

    /// Each process scans at startup, and a segment is created before it is locked.
    @Test func whoeverIsAboutToLockOneIsWaitedFor() async throws {
        let directory = try FileDescriptor.openDirectory(folder.path)
        try directory.lock(.shared)
        let name = SegmentName(
            incarnation: Incarnation(Identifier128(high: 0, low: 3)), number: 1
        ).fileName
        let file = try directory.open(name, [.readWrite, .create, .exclusive])
        let path = folder.path
        async let removed = BackgroundThread.value {
            (try? OrphanSegments.removeOrphans(in: path)) ?? -1
        }
        #expect(try file.tryLock(.exclusive))
        try directory.unlock()
        #expect(await removed == 0)
    }
}
