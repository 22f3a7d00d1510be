import Linux

/// `imagebus serve --only KIND` as process 1 of namespaces of its own, and as a user of its own.
///
/// Belongs to one test. When it goes, all that runs in it goes with it.
public final class Container {
    /// What it is.
    public let layout: ContainerLayout
    /// Where its processes write their log.
    public let logFile: String
    /// The path of `imagebus` in it.
    private let program: String
    /// It starts process 1, and ends with it.
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
        // What changed its user no longer ends with the process that started it.
        try? supervisor().kill()
    }

    /// Waits until it says that it is ready.
    public func awaitReady() throws { try outer.awaitLine { _ in true } }

    /// Process 1, as it is numbered outside.
    public func supervisor() throws -> ObservedProcess {
        guard let inner = ObservedProcess.children(of: outer.child.processID).first else {
            throw StackFailure("\(layout.name) does not run", log: logFile)
        }
        return inner
    }

    /// The processes that it watches.
    public func workers() throws -> [ObservedProcess] {
        ObservedProcess.children(of: try supervisor().processID)
    }

    /// Runs `imagebus` in it, as its user, to its end.
    public func run(_ arguments: [String]) throws -> CommandLineEnd {
        try enter([program] + arguments)
    }

    /// Runs something in it, as its user, to its end.
    public func enter(_ words: [String]) throws -> CommandLineEnd {
        let supervisor = try supervisor().processID
        // Its root, too: that of its mounts may be another one.
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

    /// Ends it in order; how process 1 ended.
    public func stop() throws -> String {
        try supervisor().terminate()
        guard let end = try outer.child.wait(milliseconds: StackHarness.timeout.milliseconds) else {
            throw StackFailure("\(layout.name) did not end", log: logFile)
        }
        return end.description
    }
}
