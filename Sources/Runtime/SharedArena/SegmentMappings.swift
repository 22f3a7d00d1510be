import ImageModel
import Linux
import Messages

/// Read-only mappings of other processes' segments, kept warm. One thread.
///
/// Bounded: the least recently used mapping goes first, and mappings of unlinked segments, which
/// hold memory that nobody else can use, go whenever a new one is made.
final class SegmentMappings {
    private final class Mapping {
        let segment: MappedSegment
        var lastUse: UInt64

        init(_ segment: MappedSegment, lastUse: UInt64) {
            (self.segment, self.lastUse) = (segment, lastUse)
        }
    }

    private let directories: SegmentDirectories
    private let mappingsMax: Int
    private var mappings: [SegmentKey: Mapping] = [:] {
        didSet { last = nil }
    }
    /// What was asked for last, which is what is mostly asked for next.
    private var last: (key: SegmentKey, mapping: Mapping)?
    private var uses: UInt64 = 0
    /// Bytes that stay mapped between two jobs: what is unlinked by its producer meanwhile is
    /// nobody's to use. Known once a segment was opened.
    private var idleBytesMax = Int.max

    init(directories: SegmentDirectories, mappingsMax: Int = 64) {
        self.directories = directories
        self.mappingsMax = mappingsMax
    }

    /// The payload and, 64 bytes before it, its header. Valid until the next call.
    func bytes(of reference: BlockReference) throws(ImageError) -> UnsafeRawBufferPointer {
        guard let bytes = try segment(of: reference).bytes(of: reference) else {
            throw ImageError(.stale, "a reference leaves its segment")
        }
        return bytes
    }

    /// The segment that a reference names.
    func segment(of reference: BlockReference) throws(ImageError) -> MappedSegment {
        let key = SegmentKey(reference)
        uses += 1
        if let last, last.key == key {
            last.mapping.lastUse = uses
            return last.mapping.segment
        }
        if let known = mappings[key] {
            known.lastUse = uses
            last = (key, known)
            return known.segment
        }
        let file = try SegmentOpening.open(reference, in: directories)
        dropUnlinked()
        makeRoom()
        do throws(Errno) {
            let count = try file.status().size
            idleBytesMax = Int(clamping: try file.fileSystemStatus().totalBytes / 32)
            let made = try MappedSegment(file, count: count)
            mappings[key] = Mapping(made, lastUse: uses)
            return made
        } catch {
            throw ImageError(.internalError, "a segment cannot be mapped: \(error)")
        }
    }

    /// Lets go of mappings that hold memory which nobody else can use.
    func dropUnlinked() { mappings = mappings.filter { !$0.value.segment.isUnlinked } }

    /// Unmaps the segment of a reference.
    func forget(_ reference: BlockReference) { mappings[SegmentKey(reference)] = nil }

    /// Between two jobs: keeps no more than a 32nd of the file system, the newest first.
    func trim() {
        var bytes = 0
        for (key, mapping) in mappings.sorted(by: { $0.value.lastUse > $1.value.lastUse }) {
            bytes += mapping.segment.memory.count
            if bytes > idleBytesMax { mappings[key] = nil }
        }
    }

    private func makeRoom() {
        while mappings.count >= mappingsMax,
            let oldest = mappings.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            mappings[oldest.key] = nil
        }
    }
}
