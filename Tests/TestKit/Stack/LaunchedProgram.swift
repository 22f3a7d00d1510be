public import Linux

extension ChildProcess {
    /// Starts a program for a test. Throws a `StackFailure` of one line with its name if it doesn't
    /// exist or can't be started.
    public static func launch(_ command: ChildCommand) throws -> ChildProcess {
        do throws(Errno) {
            return try ChildProcess(command)
        } catch {
            throw StackFailure(starting: command.executable, error)
        }
    }
}

/// A program whose output a test reads from a pipe, line by line. It is killed when the last
/// reference is released.
///
/// This process keeps no write end of the pipe, so the output ends when the program does.
final class LaunchedProgram {
    /// Its process.
    let child: ChildProcess
    /// Its output on the pipe.
    let output: ProgramOutput
    private let name: String
    private let errorFile: String?
    /// The number of bytes in `errorFile` before the program was started.
    private let earlierBytes: Int

    /// Starts a program whose `descriptors` are connected to the pipe. Failures call it `name` and
    /// quote the last line of `errorFile`, or of the pipe if there is no such file.
    init(
        _ command: ChildCommand, reading descriptors: [Int32], name: String? = nil,
        errorFile: String? = nil
    ) throws {
        let pipe = try FileDescriptor.pipe()
        var command = command
        for number in descriptors {
            command.descriptors[number] = .descriptor(pipe.writeEnd.number)
        }
        self.name = name ?? command.executable
        self.errorFile = errorFile
        earlierBytes = errorFile.map { FileBytes.read($0)?.count ?? 0 } ?? 0
        child = try ChildProcess.launch(command)
        output = ProgramOutput(pipe.readEnd)
    }

    /// Waits for a line and returns all lines so far. Throws a `StackFailure` of one line if the
    /// program ends first or `timeout` expires; its text says that the program was not `state`
    /// (`ready` by default).
    @discardableResult
    func awaitLine(
        _ state: String = "ready", timeout: Duration = StackHarness.timeout,
        where isMeant: (String) -> Bool
    ) throws -> [String] {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        while !output.lines.contains(where: isMeant) {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            switch try output.readMore(within: left) {
            case .more: continue
            case .end:
                // A program may close its output before it ends.
                guard let status = try child.wait(milliseconds: timeout.milliseconds) else {
                    throw StackFailure("\(name) closed its output before it was \(state)")
                }
                throw failure(status, "before it was \(state)")
            case .timeout:
                throw StackFailure("\(name) was not \(state) within \(timeout): \(reason)")
            }
        }
        return output.lines
    }

    /// A failure of one line: that the program ended with `status`, and its last output.
    func failure(_ status: ChildStatus, _ moment: String) -> StackFailure {
        StackFailure("\(name) ended \(moment) (\(status)): \(reason)")
    }

    private var reason: String {
        let bytes = errorFile.map { FileBytes.read($0) ?? [] } ?? output.bytes
        let text = String(decoding: bytes.dropFirst(earlierBytes), as: UTF8.self)
        return LogTail.reason(in: text.split(separator: "\n"))
    }
}
