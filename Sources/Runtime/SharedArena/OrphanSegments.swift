public import Linux
public import Messages

/// Segments that outlived their producer.
public enum OrphanSegments {
    /// Unlinks every segment in `directory` whose producer is not among the `living`, and returns
    /// how many. Readers that mapped one keep its pages.
    public static func remove(
        in directory: String, living: Set<Incarnation>
    ) throws(Errno) -> Int {
        let descriptor = try FileDescriptor.openDirectory(directory)
        var removed = 0
        for entry in try descriptor.entries() {
            guard let name = SegmentName(fileName: entry), !living.contains(name.incarnation) else {
                continue
            }
            try descriptor.unlink(entry)
            removed += 1
        }
        return removed
    }

    /// Unlinks every segment in `directory` that no process has locked, and returns how many: for
    /// a directory of which all producers lock theirs. Waits for one that is making a segment.
    ///
    /// Throws `Errno.fileTooLarge` where there are more than 65,536 names.
    public static func removeForsaken(in directory: String) throws(Errno) -> Int {
        let descriptor = try FileDescriptor.openDirectory(directory)
        try descriptor.lock(.exclusive)
        var removed = 0
        for entry in try descriptor.entries(entriesMax: 65_536)
        where SegmentName(fileName: entry) != nil {
            if isForsaken(entry, in: descriptor), (try? descriptor.unlink(entry)) != nil {
                removed += 1
            }
        }
        return removed
    }

    /// What is not there any more, or not ours to open, is somebody's.
    private static func isForsaken(
        _ name: String, in directory: borrowing FileDescriptor
    ) -> Bool {
        guard let file = try? directory.open(name, [.noFollow, .nonBlocking]) else { return false }
        return (try? file.tryLock(.exclusive)) == true
    }
}
