/// The owners of the directories created by docker/Dockerfile, read as text in our form: one
/// `install --directory --owner=… --group=… --mode=… PATH` per line.
struct ImageDirectories {
    /// By target and path: `4100:4100 0700`.
    private(set) var owners: [String: [String: String]] = [:]

    init(dockerfile: String) {
        var target = ""
        for line in dockerfile.split(separator: "\n") where line.first != "#" {
            let words = line.split(separator: " ").filter { $0 != "\\" }
            if words.first == "FROM" { target = words.last.map(String.init) ?? "" }
            guard let start = words.firstIndex(of: "install"),
                words[start...].contains("--directory"), let path = words.last
            else { continue }
            owners[target, default: [:]][String(path)] = Self.owner(words[start...])
        }
    }

    /// Missing options are `?`, which no table contains.
    private static func owner(_ words: ArraySlice<Substring>) -> String {
        func value(_ option: String) -> String {
            words.first { $0.hasPrefix(option) }.map { String($0.dropFirst(option.count)) } ?? "?"
        }
        return "\(value("--owner=")):\(value("--group=")) \(value("--mode="))"
    }
}
