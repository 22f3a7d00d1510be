/// A directory mounted by one service of the containerized stack.
struct Mount: Hashable, Comparable, CustomStringConvertible {
    let service: String
    let volume: String
    let path: String
    let isWritable: Bool

    var description: String { "\(service): \(volume) at \(path), \(isWritable ? "rw" : "ro")" }

    static func < (left: Mount, right: Mount) -> Bool { left.description < right.description }
}

/// Owner and readers of a directory in shared memory: `4100:4120 2750`.
struct VolumeOwner: Hashable {
    let volume: String
    let owner: String
}
