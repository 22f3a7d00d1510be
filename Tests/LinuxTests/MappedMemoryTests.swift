import Linux
import Testing

@Suite struct MappedMemoryTests {
    let root: TestDirectory

    init() throws { root = try TestDirectory(in: "/dev/shm") }

    private func segment(_ byteCount: Int) throws -> FileDescriptor {
        let file = try root.file("segment", "")
        try file.reserve(byteCount: byteCount)
        return file
    }

    @Test func oneMappingSeesWhatTheOtherWrote() throws {
        let file = try segment(8_192)
        let writer = try MappedMemory(file, count: 8_192, access: .readWrite)
        try writer.populate()
        let readOnly = try root.directory.open("segment")
        let reader = try MappedMemory(readOnly, offset: 4_096, count: 4_096, access: .readOnly)
        try reader.populate()
        writer.mutableBytes[4_097] = 42
        #expect(reader.bytes[1] == 42)
        #expect(reader.count == 4_096)
    }

    @Test func aReadOnlyDescriptorIsNotMappedForWriting() throws {
        _ = try segment(4_096)
        let readOnly = try root.directory.open("segment")
        #expect(throws: Errno.accessDenied) {
            _ = try MappedMemory(readOnly, count: 4_096, access: .readWrite)
        }
        #expect(throws: Errno.invalidArgument) {
            _ = try MappedMemory(readOnly, count: 0, access: .readOnly)
        }
    }

    @Test func atomicWordsPassThroughTwoMappings() throws {
        let file = try segment(4_096)
        let writer = try MappedMemory(file, count: 4_096, access: .readWrite)
        let reader = try MappedMemory(file, count: 4_096, access: .readOnly)
        let target = try #require(writer.mutableBytes.baseAddress)
        let source = try #require(reader.bytes.baseAddress)
        SharedAtomic.storeRelease(.max, to: target + 8)
        #expect(SharedAtomic.loadAcquire(source + 8) == .max)
        SharedAtomic.storeRelaxed(7, to: target + 8)
        #expect(SharedAtomic.loadRelaxed(source + 8) == 7)
    }

    /// The protocol of PROTOCOL §10: id 0, release fence, bytes, id; and copy, acquire fence, id.
    @Test func aReaderNeverTakesHalfWrittenBytes() throws {
        let file = try segment(4_096)
        let writer = try MappedMemory(file, count: 4_096, access: .readWrite)
        let reader = try MappedMemory(file, count: 4_096, access: .readOnly)
        let target = UInt(bitPattern: writer.mutableBytes.baseAddress)
        let thread = try Thread(name: "writer") {
            guard let target = UnsafeMutableRawPointer(bitPattern: target) else { return }
            for id in 1...UInt64(20_000) { Self.publish(id, at: target) }
        }
        let source = try #require(reader.bytes.baseAddress)
        var copy = [UInt8](repeating: 0, count: 512)
        var (taken, torn) = (0, 0)
        var last: UInt64 = 0
        while last < 20_000 {
            last = SharedAtomic.loadAcquire(source)
            if last == 0 { continue }
            copy.withUnsafeMutableBytes {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: source + 64, count: 512))
            }
            SharedAtomic.fenceAcquire()
            guard SharedAtomic.loadRelaxed(source) == last else { continue }
            taken += 1
            if copy.contains(where: { $0 != UInt8(truncatingIfNeeded: last) }) { torn += 1 }
        }
        thread.join()
        #expect(taken > 0)
        #expect(torn == 0)
    }

    private static func publish(_ id: UInt64, at target: UnsafeMutableRawPointer) {
        SharedAtomic.storeRelaxed(0, to: target)
        SharedAtomic.fenceRelease()
        (target + 64).initializeMemory(
            as: UInt8.self, repeating: UInt8(truncatingIfNeeded: id), count: 512)
        SharedAtomic.storeRelease(id, to: target)
    }

    @Test func mappedPagesCountAsSharedMemory() throws {
        let byteCount = 16 << 20
        let before = try ProcessMemory.proportional(of: CurrentProcess.processID)
        let mapping = try MappedMemory(
            try segment(byteCount), count: byteCount, access: .readWrite)
        try mapping.populate()
        let after = try ProcessMemory.proportional(of: CurrentProcess.processID)
        #expect(after.shared >= before.shared + UInt64(byteCount) * 3 / 4)
        #expect(after.total >= after.shared)
        withExtendedLifetime(mapping.count) {}
    }

    @Test func aGaugeCountsPrivateMemoryAlone() throws {
        let byteCount = 64 << 20
        let gauge = try ProcessMemoryGauge()
        let before = try gauge.privateBytes()
        let mapping = try MappedMemory(
            try segment(byteCount), count: byteCount, access: .readWrite)
        try mapping.populate()
        #expect(try gauge.privateBytes() < before + UInt64(byteCount) / 4)
        let own = [UInt8](repeating: 1, count: byteCount)
        #expect(try gauge.privateBytes() >= before + UInt64(byteCount) * 3 / 4)
        withExtendedLifetime((mapping.count, own)) {}
    }

    @Test func thePeakCanBeginAnew() throws {
        let process = CurrentProcess.processID
        let byteCount = 32 << 20
        do {
            let mapping = try MappedMemory(
                try segment(byteCount), count: byteCount, access: .readWrite)
            try mapping.populate()
            withExtendedLifetime(mapping.count) {}
        }
        let peak = try ProcessMemory.peakBytes(of: process)
        let now = try ProcessMemory.proportional(of: process).total
        #expect(peak > now + UInt64(byteCount) / 2)
        try ProcessMemory.resetPeak(of: process)
        #expect(try ProcessMemory.peakBytes(of: process) < peak - UInt64(byteCount) / 2)
    }
}
