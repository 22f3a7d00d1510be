public import Linux

extension ChildProcess {
    /// Waits until `connect` succeeds, which is later than the socket's creation. Throws a
    /// `StackFailure` if the process ends first or doesn't listen in time; `lastOutput` returns
    /// its last output.
    public func awaitListening(
        as name: String, lastOutput: () -> String = { "it logged nothing" },
        _ connect: () throws(RawClient.ConnectionRefused) -> Void
    ) throws {
        let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
        var pause = PollingPause()
        while true {
            do throws(RawClient.ConnectionRefused) {
                return try connect()
            } catch {
                if let status = try poll() {
                    throw StackFailure(
                        "\(name) ended before it listened (\(status)): \(lastOutput())")
                }
                guard ContinuousClock.now < deadline else {
                    throw StackFailure(
                        "\(name) did not listen within \(defaultTimeout): \(lastOutput())")
                }
                pause.wait()
            }
        }
    }
}
