public import Linux

/// One run of `imagebus`, with its output in files.
public final class CommandLineRun {
    private let folder = TemporaryDirectory()
    private let child: ChildProcess
    private let arguments: [String]

    /// Starts `imagebus`. Its environment is that of this process without Imagebus variables, plus
    /// `environment`; `input` is its standard input.
    public convenience init(
        _ arguments: [String], environment: [String: String] = [:], input: [UInt8]? = nil
    ) throws {
        try self.init(
            line: [Programs.path(.imagebus)] + arguments, environment: environment, input: input)
    }

    /// The same as another user, whose only group has the same number.
    public convenience init(
        _ arguments: [String], asUser user: UInt32, environment: [String: String] = [:]
    ) throws {
        let becoming = [
            "/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "--",
        ]
        try self.init(
            line: becoming + [Programs.path(.imagebus)] + arguments, environment: environment)
    }

    /// The same with standard output redirected by a shell, such as `>&-` or `>/dev/full`.
    public convenience init(_ arguments: [String], redirected redirection: String) throws {
        let shell = ["/bin/sh", "-c", "exec \"$0\" \"$@\" \(redirection)"]
        try self.init(line: shell + [Programs.path(.imagebus)] + arguments, environment: [:])
    }

    /// The same with a standard output that is never read.
    public convenience init(unread arguments: [String]) throws {
        let pipe = try FileDescriptor.pipe()
        let output = try pipe.writeEnd.duplicate()
        try pipe.readEnd.close()
        try self.init(
            line: [Programs.path(.imagebus)] + arguments, environment: [:], output: output.number)
    }

    /// The same for a program elsewhere.
    public convenience init(program path: String, _ arguments: [String]) throws {
        try self.init(line: [path] + arguments, environment: [:])
    }

    /// The same, started through other programs, such as one that changes the user.
    init(
        line words: [String], environment: [String: String], input: [UInt8]? = nil,
        output other: Int32? = nil
    ) throws {
        arguments = Array(words.dropFirst())
        let output = try FileDescriptor.open(folder.file("out"), [.writeOnly, .create])
        let errors = try FileDescriptor.open(folder.file("err"), [.writeOnly, .create])
        var command = ChildCommand(
            words[0], arguments,
            environment: Programs.cleanEnvironment.merging(environment) { $1 })
        command.descriptors[1] = .descriptor(other ?? output.number)
        command.descriptors[2] = .descriptor(errors.number)
        guard let input else {
            child = try ChildProcess.launch(command)
            return
        }
        folder.write(input, to: "in")
        let file = try FileDescriptor.open(folder.file("in"))
        command.descriptors[0] = .descriptor(file.number)
        child = try ChildProcess.launch(command)
    }

    /// Sends it a signal.
    public func send(_ signal: StackSignal) throws { try child.send(signal.signal) }

    /// Waits for the process to end; throws if it doesn't within `timeout`.
    public func end(timeout: Duration = defaultTimeout) throws -> CommandLineEnd {
        guard let status = try child.wait(milliseconds: timeout.milliseconds) else {
            throw StackFailure(
                "\(timeout) were not enough for: \(line)\n"
                    + ProcessThreads.text(of: child.processID),
                log: folder.file("err"))
        }
        return CommandLineEnd(
            line: line, status: status, output: FileBytes.read(folder.file("out")) ?? [],
            errorText: FileBytes.text(folder.file("err")) ?? "")
    }

    private var line: String { (["imagebus"] + arguments).joined(separator: " ") }
}

/// How a run of `imagebus` ended.
public struct CommandLineEnd: Sendable, CustomStringConvertible {
    /// The command line.
    public let line: String
    /// The exit status or signal.
    public let status: ChildStatus
    /// Standard output.
    public let output: [UInt8]
    /// Standard error.
    public let errorText: String

    /// Standard output as text.
    public var outputText: String { String(decoding: output, as: UTF8.self) }

    /// The exit status; nil if a signal ended the process.
    public var exitStatus: Int32? {
        if case .exited(let code) = status { code } else { nil }
    }

    /// Standard output parsed as one JSON value.
    public func json() throws -> JSONValue {
        do {
            return try JSONValue(parsing: output)
        } catch {
            throw StackFailure("no JSON on standard output: \(self)")
        }
    }

    /// The command, status and output, for failed expectations.
    public var description: String {
        "\(line)\n  \(status)\n  out: \(String(decoding: output.prefix(2000), as: UTF8.self))"
            + "\n  err: \(errorText)"
    }
}
