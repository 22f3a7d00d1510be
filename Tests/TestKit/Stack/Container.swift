import Linux

/// `imagebus serve --only KIND` as process 1 of its own namespaces, and as its own user.
///
/// Belongs to one test. When it is released, all processes in it end.
public final class Container {
    /// Its user, groups and directories.
    public let layout: ContainerLayout
    /// The log file of its processes.
    public let logFile: String
    /// The path of `imagebus` inside the container.
    private let program: String
    /// The program that starts process 1 and ends with it.
    private let outer: LaunchedProgram

    init(
        line: [String], program: String, environment: [String: String],
        _ layout: ContainerLayout, log path: String
    ) throws {
        let log = try FileDescriptor.open(path, [.writeOnly, .create, .append])
        var command = ChildCommand(
            line[0], Array(line.dropFirst()),
            environment: Programs.cleanEnvironment.merging(environment) { $1 })
        command.descriptors[2] = .descriptor(log.number)
        outer = try LaunchedProgram(
            command, reading: [1], name: "imagebus serve --only \(layout.name)", errorFile: path)
        (self.layout, self.program) = (layout, program)
        logFile = path
    }

    deinit {
        // A process that has changed its user no longer ends with the process that started it.
        try? supervisor().kill()
    }

    /// Waits for the ready line.
    public func awaitReady() throws { try outer.awaitLine { _ in true } }

    /// Process 1, by its number outside the container.
    public func supervisor() throws -> ObservedProcess {
        guard let inner = ObservedProcess.children(of: outer.child.processID).first else {
            throw StackFailure("\(layout.name) does not run", log: logFile)
        }
        return inner
    }

    /// The processes that it supervises.
    public func workers() throws -> [ObservedProcess] {
        ObservedProcess.children(of: try supervisor().processID)
    }

    /// Runs `imagebus` in the container, as its user, to completion.
    public func run(_ arguments: [String]) throws -> CommandLineEnd {
        try enter([program] + arguments)
    }

    /// Runs a command in the container, as its user, to completion.
    public func enter(_ words: [String]) throws -> CommandLineEnd {
        let supervisor = try supervisor().processID
        // Its root too: the mount namespace may have a different one.
        let line = ["/usr/bin/nsenter", "--target", "\(supervisor)", "--mount", "--pid", "--root"]
        let file = FileBytes.text("/proc/\(supervisor)/environ") ?? ""
        var environment: [String: String] = [:]
        for entry in file.split(separator: "\0") where entry.hasPrefix("IMAGEBUS_") {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { environment[parts[0]] = parts[1] }
        }
        return try CommandLineRun(
            line: line + layout.becoming + words, environment: environment
        ).end()
    }

    /// Shuts the container down. Returns how process 1 ended.
    public func stop() throws -> String {
        try supervisor().terminate()
        guard let end = try outer.child.wait(milliseconds: StackHarness.timeout.milliseconds) else {
            throw StackFailure("\(layout.name) did not end", log: logFile)
        }
        return end.description
    }
}
