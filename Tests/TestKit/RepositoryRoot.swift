/// The folder that contains `Package.swift`, derived from the location of this source file.
public enum RepositoryRoot {
    /// The absolute path, without a trailing slash.
    public static let path: String = {
        let components = #filePath.split(separator: "/").dropLast(3)
        return "/" + components.joined(separator: "/")
    }()

    /// The absolute path of a file, given relative to the root.
    public static func file(_ relative: String) -> String {
        path + "/" + relative
    }
}
