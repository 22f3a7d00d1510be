/// The bind mounts of the units in systemd/, and the owners of the directories that tmpfiles
/// create.
struct UnitFiles {
    /// By path: `4103:4113 2750`.
    private(set) var owners: [String: String] = [:]
    private var numbers: [Substring: Substring] = [:]

    /// The directories that a service sees below the runtime directory.
    static func mounts(of service: String, unit: String) -> Set<Mount> {
        var mounts: Set<Mount> = []
        for line in unit.split(separator: "\n") {
            for (key, isWritable) in [("BindPaths=", true), ("BindReadOnlyPaths=", false)]
            where line.hasPrefix(key) {
                for path in line.dropFirst(key.count).split(separator: " ") {
                    mounts.insert(
                        Mount(
                            service: service, volume: "", path: String(path),
                            isWritable: isWritable))
                }
            }
        }
        return mounts
    }

    /// Reads numeric IDs from `sysusers` and directories from `tmpfiles`; root's are left out.
    init(sysusers: String, tmpfiles: String) {
        for line in sysusers.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if words.count >= 3 { numbers[words[1]] = words[2] }
        }
        for line in tmpfiles.split(separator: "\n") where line.hasPrefix("d ") {
            let words = line.split(separator: " ")
            guard words.count == 5, words[3] != "root" else { continue }
            let (user, group) = (numbers[words[3]] ?? "?", numbers[words[4]] ?? "?")
            owners[String(words[1])] = "\(user):\(group) \(words[2])"
        }
    }
}
