extension StackHarness {
    /// Throws a `StackFailure` of one line if `serve` has logged that the program of an external
    /// pool ended by itself before it was ready. The failure contains the program, its exit status,
    /// and its last line on stderr.
    public func expectStarting(pool: String) throws {
        let lines = String(decoding: FileBytes.read(logFile) ?? [], as: UTF8.self)
            .split(separator: "\n")
        for (index, line) in lines.enumerated() where line.contains(": exit ") {
            guard let start = line.firstRange(of: "pool \(pool): "),
                let number = line.firstRange(of: "(process "),
                line.contains(") ended before it was ready: exit ")
            else { continue }
            // In JSON logs a quotation mark ends the message.
            let message = line[start.lowerBound...].prefix { $0 != "\"" }
            let process = line[number.upperBound...].prefix { $0.isNumber }
            let own = lines[..<index].filter {
                !LogTail.isLogLine($0) || $0.contains("[\(process)]: ")
                    || $0.contains("\"pid\":\(process),")
            }
            throw StackFailure("\(message): \(LogTail.reason(in: own))")
        }
    }
}
