import Linux
public import Messages
import SharedArena

/// Reads the control segments of a kind: for the coordinator, which wants to know how a worker
/// died, and for its supervisor, which wants to know whether it lives.
///
/// Nothing there is believed: what is no control segment reads as nothing, and what it says counts
/// only as far as it fits what is known of the worker. Who may write there is decided by the
/// directory's mode: the workers of that kind and whoever made it, and no others.
public struct ControlReader: Sendable {
    private let directory: String

    /// Reads in this directory.
    public init(directory: String) { self.directory = directory }

    /// What the fault handler of that life wrote, or why it was ended; `nil` where nothing is
    /// said, or where there is no such segment.
    public func crashRecord(of incarnation: Incarnation) -> CrashRecord? {
        guard let words = words(of: incarnation) else { return nil }
        if let signal = Int32(exactly: words[ControlLayout.signal]),
            FaultRecorder.signals.contains(Signal(rawValue: signal))
        {
            let (job, attempt) = (ControlLayout.crashedJob, ControlLayout.crashedAttempt)
            return Self.record(words[job], words[attempt], .signal(signal))
        }
        return ControlVerdict(rawValue: words[ControlLayout.verdict]).flatMap { verdict in
            Self.record(
                words[ControlLayout.job], words[ControlLayout.attempt], verdict.cause)
        }
    }

    private static func record(
        _ job: UInt64, _ attempt: UInt64, _ cause: CrashRecord.Cause
    ) -> CrashRecord? {
        UInt32(exactly: attempt).map {
            CrashRecord(job: job == 0 ? nil : JobID(job), attempt: $0, cause: cause)
        }
    }

    /// How often the bus thread of that life has turned.
    public func heartbeat(of incarnation: Incarnation) -> UInt64? {
        words(of: incarnation)?[ControlLayout.heartbeat]
    }

    /// Whether the coordinator knows that life, as it said at its last turn.
    public func isWelcome(_ incarnation: Incarnation) -> Bool? {
        words(of: incarnation).map { $0[ControlLayout.isWelcome] != 0 }
    }

    private func words(of incarnation: Incarnation) -> [UInt64]? {
        let byteCount = ControlLayout.wordCount * MemoryLayout<UInt64>.size
        let name = SegmentName(incarnation: incarnation, number: 0).fileName
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        defer { bytes.deallocate() }
        do throws(Errno) {
            let folder = try FileDescriptor.openDirectory(directory)
            guard try folder.status().mode & 0o002 == 0 else { return nil }
            let file = try folder.open(name, [.noFollow, .nonBlocking])
            guard try file.status().type == .regular else { return nil }
            guard try file.readFully(into: bytes, at: 0) == byteCount else { return nil }
        } catch {
            return nil
        }
        let words = bytes.bindMemory(to: UInt64.self).map(UInt64.init(littleEndian:))
        return words[ControlLayout.magic] == ControlLayout.magicValue ? words : nil
    }
}

extension ControlVerdict {
    fileprivate var cause: CrashRecord.Cause {
        switch self {
        case .stoodStill: .stoodStill
        case .didNotStop: .didNotStop
        case .cancelledHard: .cancelledHard
        }
    }
}
