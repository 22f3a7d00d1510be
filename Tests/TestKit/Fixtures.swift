import Glibc

/// The folder of test images, which is outside the repository.
public enum Fixtures {
    /// The value of `IMAGEBUS_FIXTURES`, or nil if it isn't set; tests that need its images are
    /// skipped then.
    public static let folder: String? = getenv("IMAGEBUS_FIXTURES").map { String(cString: $0) }

    /// The path of an image, or nil if there is no folder.
    public static func path(_ name: String) -> String? {
        folder.map { $0 + "/" + name }
    }

    /// The bytes of an image, or nil if it doesn't exist. Without a fixtures folder the name is
    /// printed in the form of a skipped test.
    public static func bytes(_ name: String) -> [UInt8]? {
        guard let path = path(name) else {
            print("- Test image \(name) skipped: needs IMAGEBUS_FIXTURES")
            return nil
        }
        return FileBytes.read(path)
    }

    /// The bytes of an image; throws if it doesn't exist.
    public static func read(_ name: String) throws -> [UInt8] {
        guard let bytes = bytes(name) else {
            throw StackFailure("\(folder ?? "IMAGEBUS_FIXTURES")/\(name) cannot be read")
        }
        return bytes
    }

    /// A photo of 2725×2225, or one drawn by `scripts/draw-photo` if there is no fixtures folder.
    public static func photo() throws -> [UInt8] {
        guard folder == nil else { return try read("photos/photo-2725x2225.jpg") }
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let file = directory.file("photo.jpg")
        let end = try CommandLineRun(
            program: RepositoryRoot.file("scripts/draw-photo"), [file, "85"]
        ).end(timeout: .seconds(120))
        guard end.exitStatus == 0, let bytes = FileBytes.read(file) else {
            throw StackFailure("scripts/draw-photo failed: \(end)")
        }
        return bytes
    }
}
