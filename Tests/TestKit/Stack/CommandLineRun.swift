public import Linux

/// One run of `imagebus`, its output in files.
public final class CommandLineRun {
    private let folder = TemporaryDirectory()
    private let child: ChildProcess
    private let arguments: [String]

    /// Starts it. The environment is this process' without our own variables, plus `environment`;
    /// `input` is its standard input.
    public convenience init(
        _ arguments: [String], environment: [String: String] = [:], input: [UInt8]? = nil
    ) throws {
        try self.init(
            line: [Programs.path(.imagebus)] + arguments, environment: environment, input: input)
    }

    /// The same as another user, who has no group but one of the same number.
    public convenience init(
        _ arguments: [String], asUser user: UInt32, environment: [String: String] = [:]
    ) throws {
        let becoming = [
            "/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "--",
        ]
        try self.init(
            line: becoming + [Programs.path(.imagebus)] + arguments, environment: environment)
    }

    /// The same where standard output is what a shell makes of it, such as `>&-` or `>/dev/full`.
    public convenience init(_ arguments: [String], redirected redirection: String) throws {
        let shell = ["/bin/sh", "-c", "exec \"$0\" \"$@\" \(redirection)"]
        try self.init(line: shell + [Programs.path(.imagebus)] + arguments, environment: [:])
    }

    /// The same where nobody reads standard output.
    public convenience init(unread arguments: [String]) throws {
        let pipe = try FileDescriptor.pipe()
        let output = try pipe.writeEnd.duplicate()
        try pipe.readEnd.close()
        try self.init(
            line: [Programs.path(.imagebus)] + arguments, environment: [:], output: output.number)
    }

    /// The same of a program that lies elsewhere.
    public convenience init(program path: String, _ arguments: [String]) throws {
        try self.init(line: [path] + arguments, environment: [:])
    }

    /// The same behind other programs, such as one that changes the user.
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

    /// Waits for its end; throws where that does not come within `timeout`.
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
    /// What was run.
    public let line: String
    /// How it ended.
    public let status: ChildStatus
    /// Standard output.
    public let output: [UInt8]
    /// Standard error.
    public let errorText: String

    /// Standard output as text.
    public var outputText: String { String(decoding: output, as: UTF8.self) }

    /// The exit status; nil where a signal ended it.
    public var exitStatus: Int32? {
        if case .exited(let code) = status { code } else { nil }
    }

    /// Standard output as one JSON value.
    public func json() throws -> JSONValue {
        do {
            return try JSONValue(parsing: output)
        } catch {
            throw StackFailure("no JSON on standard output: \(self)")
        }
    }

    /// For failed expectations.
    public var description: String {
        "\(line)\n  \(status)\n  out: \(String(decoding: output.prefix(2000), as: UTF8.self))"
            + "\n  err: \(errorText)"
    }
}
