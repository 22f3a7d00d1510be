import Glibc

/// The folder of test images, which lives outside the repository.
public enum Fixtures {
    /// The value of `IMAGEBUS_FIXTURES`, or nil where it is not set: tests that need images
    /// are then skipped.
    public static let folder: String? = getenv("IMAGEBUS_FIXTURES").map { String(cString: $0) }

    /// The path of an image, or nil where there is no folder.
    public static func path(_ name: String) -> String? {
        folder.map { $0 + "/" + name }
    }

    /// The bytes of an image, or nil where it is not there.
    public static func bytes(_ name: String) -> [UInt8]? {
        path(name).flatMap(FileBytes.read)
    }
}
