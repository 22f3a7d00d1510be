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
}
