/// TCP connections of this network namespace, from the kernel's table.
public enum Connections {
    /// The number of connections established to a port on an IPv4 address (`/proc/net/tcp`, kernel
    /// documentation `proc_net_tcp`); `nil` if the table can't be read.
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
