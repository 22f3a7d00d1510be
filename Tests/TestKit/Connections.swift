/// Connections of this network, as the kernel counts them.
public enum Connections {
    /// How many are established to a port of an IPv4 address (`proc_net_tcp` of the kernel's
    /// documents); `nil` where the table cannot be read.
    public static func established(to port: UInt16) -> Int? {
        guard let table = FileBytes.text("/proc/self/net/tcp") else { return nil }
        let digits = String(port, radix: 16, uppercase: true)
        let end = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return table.split(separator: "\n").dropFirst().count { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[2].hasSuffix(end) && words[3] == "01"
        }
    }
}
