import Linux

/// A file that takes all that is left of a file system. It goes with this value.
public final class SpaceFiller {
    private let folder: String
    private var isThere = true
    private static let name = "filler"

    /// Fills the file system of a folder, to the last block.
    public init(in folder: String) throws {
        self.folder = folder
        let file = try FileDescriptor.open("\(folder)/\(Self.name)", [.create, .writeOnly])
        for size in [1 << 20, 1 << 12] {
            let bytes = [UInt8](repeating: 1, count: size)
            while (try? file.writeAll(bytes)) != nil {}
        }
    }

    /// Gives the space back.
    public func remove() throws {
        guard isThere else { return }
        isThere = false
        try FileDescriptor.openDirectory(folder).unlink(Self.name)
    }

    deinit { try? remove() }
}
