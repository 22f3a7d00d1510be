import Linux

/// A file that takes up all free space of a file system. It is removed with this object.
public final class SpaceFiller {
    private let folder: String
    private var isThere = true
    private static let name = "filler"

    /// Fills the file system that contains a folder, down to the last block.
    public init(in folder: String) throws {
        self.folder = folder
        let file = try FileDescriptor.open("\(folder)/\(Self.name)", [.create, .writeOnly])
        for size in [1 << 20, 1 << 12] {
            let bytes = [UInt8](repeating: 1, count: size)
            while (try? file.writeAll(bytes)) != nil {}
        }
    }

    /// Removes the file and so frees the space.
    public func remove() throws {
        guard isThere else { return }
        isThere = false
        try FileDescriptor.openDirectory(folder).unlink(Self.name)
    }

    deinit { try? remove() }
}
