/// The directory below which a loader reads files.
public struct FileRoot: Hashable, Sendable {
    /// An absolute path in the download process.
    public var path: String

    /// The scheme of imgproxy's URLs of local files, such as `local:///photos/a.jpg`.
    package static let localScheme = "local"
    /// The scheme of the watermark that an operator gives as a file. No URL of a stranger has it.
    package static let watermarkScheme = "watermark"

    /// Bytes of the path.
    public static let bytesMax = 1_024

    /// Takes a path as it is; see `isPath`.
    public init(path: String) { self.path = path }

    /// Whether a text can be a root: absolute, without a zero byte and without `.` and `..`.
    public static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= bytesMax && !text.utf8.contains(0)
            && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }
}
