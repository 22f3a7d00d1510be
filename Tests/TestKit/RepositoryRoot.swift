/// The folder that holds `Package.swift`, found from the place of this source file.
public enum RepositoryRoot {
    /// The absolute path, without a trailing slash.
    public static let path: String = {
        let components = #filePath.split(separator: "/").dropLast(3)
        return "/" + components.joined(separator: "/")
    }()

    /// The path of an entry below the root.
    public static func file(_ relative: String) -> String {
        path + "/" + relative
    }
}
