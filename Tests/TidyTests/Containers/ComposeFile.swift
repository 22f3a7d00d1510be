/// The mounts in docker/compose.yaml, read as text in our form: sections at the margin, services
/// and volumes indented by two, a list of mounts indented by six.
struct ComposeFile {
    private(set) var services: [String] = []
    private(set) var mounts: Set<Mount> = []
    private(set) var owners: Set<VolumeOwner> = []
    /// Mounts in an unsupported form: of the host, or of another type.
    private(set) var strange: [String] = []

    private var section = ""
    private var name = ""
    private var isInMounts = false

    init(yaml: String) {
        for line in yaml.split(separator: "\n") where !line.allSatisfy({ $0 == " " }) {
            let text = line.drop { $0 == " " }
            if !text.hasPrefix("#") { read(text, indent: line.count - text.count) }
        }
    }

    private mutating func read(_ text: Substring, indent: Int) {
        if indent == 0 { section = String(text.prefix { $0 != ":" }) }
        if indent == 2 {
            name = String(text.prefix { $0 != ":" })
            if section == "services" { services.append(name) }
        }
        if indent == 4 { isInMounts = section == "services" && text == "volumes:" }
        if indent == 6, isInMounts { readMount(text) }
        if indent == 6, section == "volumes", text.hasPrefix("o: ") { readOwner(text.dropFirst(3)) }
    }

    private mutating func readMount(_ text: Substring) {
        let parts = text.dropFirst(2).split(separator: ":").map(String.init)
        let mode = parts.count == 3 ? parts[2] : "rw"
        guard text.hasPrefix("- "), parts.count >= 2, !parts[0].contains("/"),
            ["rw", "ro"].contains(mode)
        else { return strange.append("\(name): \(text)") }
        mounts.insert(
            Mount(service: name, volume: parts[0], path: parts[1], isWritable: mode == "rw"))
    }

    private mutating func readOwner(_ options: Substring) {
        var values: [Substring: Substring] = [:]
        for option in options.split(separator: ",") {
            let parts = option.split(separator: "=", maxSplits: 1)
            values[parts[0]] = parts.count == 2 ? parts[1] : ""
        }
        let owner = "\(values["uid"] ?? "?"):\(values["gid"] ?? "?") \(values["mode"] ?? "?")"
        owners.insert(VolumeOwner(volume: name, owner: owner))
    }
}
