import CommandLineInterface
import Glibc
import Imagebus
import Linux
import Model
import ProcessRuntime
import Reporting
import Supervision

extension Command {
    static let doctor = Command(
        name: "doctor",
        summary: "check this machine and its stack, and suggest fixes",
        usage: "[options]",
        options: [("", OperatorOptions.definitions + [.cacheDirectory, within])],
        notes: """
            Prints one line per check: ok, short (limited: works, but slower or only for smaller
            images) or missing (does not work), followed by a suggested fix. The checks cover

            - the kernel and its sandbox features;
            - the limits of descriptors, memory and disk transfers;
            - the space for shared memory and the disk tier;
            - the programs, their libraries and their formats;
            - the sockets and processes of a running stack, which also processes a small image.

            doctor changes nothing.

            exit status: 0 nothing is missing, 1 something is missing
            """,
        examples: [
            ("imagebus doctor", "check the machine and this user's stack"),
            ("imagebus doctor --runtime-dir /run/imagebus --json", "check another stack, as JSON"),
        ])

    /// The timeout option of commands with a probe.
    static let within = OptionDefinition(
        "within", value: "TIME",
        "timeout for a small image to pass through all stages "
            + "(\(StackCanary.usualMilliseconds / 1_000)s)")
}

struct DoctorOptions: Hashable {
    var stack: OperatorOptions
    var cacheDirectory: String?
    /// The directory of the stack's programs; `nil` for that of this program.
    var programs: String?
    /// The timeout for an image to pass through the stack, in milliseconds.
    var milliseconds: Int
    /// Whether to use colors; false if NO_COLOR is set.
    var hasColors: Bool

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
        cacheDirectory = try read.cacheDirectory(environment)
        programs = environment["IMAGEBUS_PROGRAMS"].flatMap { $0.isEmpty ? nil : $0 }
        milliseconds = try Self.within(read)
        hasColors = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Parses `--within`.
    static func within(_ read: ReadOptions) throws(UsageError) -> Int {
        try read.parsed("within") { (text) throws(UsageError) in
            try OptionValue.milliseconds(text, atMost: withinMillisecondsMax)
        } ?? StackCanary.usualMilliseconds
    }

    private static let withinMillisecondsMax = 60_000
}

/// `imagebus doctor`: what is wrong with this machine and its stack, and how to fix it.
enum DoctorCommand {
    static func run(_ options: DoctorOptions) -> Int32 {
        let report = DoctorReport(findings: findings(options))
        if options.stack.printsJSON {
            // Texts can always be encoded as JSON.
            let text = (try? JSONText.text(report)) ?? ""
            return Terminal.finish("doctor", text, status: report.exitStatus)
        }
        guard isatty(1) == 1, options.hasColors else {
            return Terminal.finish(
                "doctor", report.text(colored: false), status: report.exitStatus)
        }
        Terminal.control(1, report.text(colored: true, columns: TerminalScreen.current?.columns))
        return report.exitStatus
    }

    private static func findings(_ options: DoctorOptions) -> [DoctorFinding] {
        var properties = MachineProperties(
            runtime: options.stack.runtimeDirectory.path, cache: options.cacheDirectory)
        // If the directory is on a disk, segments are in /dev/shm.
        if properties.runtime.isWritable, !properties.runtime.isTemporary {
            let path = properties.runtime.path
            properties.runtime = DirectoryProperties("/dev/shm")
            properties.runtime.path = path
        }
        return MachineFindings(properties: properties).all + programs(options)
            + StackFindings.all(options)
    }

    private static func programs(_ options: DoctorOptions) -> [DoctorFinding] {
        if let named = options.programs { return ProgramFindings.all(in: named) }
        guard let path = try? ProgramNeighbor.path(""), let end = path.lastIndex(of: "/") else {
            return []
        }
        return ProgramFindings.all(in: String(path[..<end]))
    }
}

struct DoctorFinding: Encodable, Hashable {
    /// The severity.
    enum State: String, Encodable {
        case ok
        /// It works, but not as well as it could.
        case short
        /// Something doesn't work.
        case missing
    }

    /// One or two words.
    let name: String
    let state: State
    /// What was found, and its consequences.
    let says: String
    /// What to do; `nil` if everything is fine.
    let hint: String?

    private enum CodingKeys: String, CodingKey {
        case name, state, says
        // The name in the output (SEMANTICS §15.11).
        case hint = "mend"
    }

    static func ok(_ name: String, _ says: String) -> DoctorFinding {
        DoctorFinding(name: name, state: .ok, says: says, hint: nil)
    }

    static func short(_ name: String, _ says: String, hint: String) -> DoctorFinding {
        DoctorFinding(name: name, state: .short, says: says, hint: hint)
    }

    static func missing(_ name: String, _ says: String, hint: String) -> DoctorFinding {
        DoctorFinding(name: name, state: .missing, says: says, hint: hint)
    }
}

/// The output of `imagebus doctor`.
struct DoctorReport: Encodable {
    let findings: [DoctorFinding]

    /// 0 unless something is missing; shortages don't count as failures.
    var exitStatus: Int32 { findings.contains { $0.state == .missing } ? Self.errorStatus : 0 }

    private static let errorStatus: Int32 = 1

    /// Formats one line per finding, followed by what to do; `columns` wraps long lines.
    func text(colored: Bool, columns: Int? = nil) -> String {
        let width = (findings.map(\.name.count).max() ?? 0) + 2
        let lines = findings.map { finding in
            let state = HelpText.padded(finding.state.rawValue, to: Self.stateWidth)
            let painted = colored ? Self.painted(state, finding.state) : state
            let name = HelpText.padded(finding.name, to: width)
            let blank = HelpText.padded("", to: Self.stateWidth + width)
            let room = columns.map { max(Self.roomMin, $0 - Self.stateWidth - width) }
            let says = Self.broken(finding.says, to: room, below: blank)
            let hint = finding.hint.map { text in
                let text = Self.broken(text, to: room.map { $0 - 3 }, below: blank + "   ")
                return "\(blank)-> \(text)\n"
            }
            return "\(painted)\(name)\(says)\n\(hint ?? "")"
        }
        return lines.joined() + "\(summary)\n"
    }

    private var summary: String {
        let missing = findings.count { $0.state == .missing }
        let short = findings.count { $0.state == .short }
        if missing == 0, short == 0 { return "all checks passed" }
        return "\(missing) missing, \(short) short, \(findings.count) checks"
    }

    /// Wraps a text to a number of columns.
    private static func broken(_ text: String, to columns: Int?, below blank: String) -> String {
        let text = PlainText.line(text)
        guard let columns else { return text }
        return HelpLayout.filled(text, to: columns).split(separator: "\n")
            .joined(separator: "\n\(blank)")
    }

    private static let stateWidth = 9
    private static let roomMin = 20

    private static func painted(_ text: String, _ state: DoctorFinding.State) -> String {
        let color =
            switch state {
            case .ok: 32
            case .short: 33
            case .missing: 31
            }
        return "\u{1B}[\(color)m\(text)\u{1B}[0m"
    }
}

/// Checks whether a stack is running, whether this user may use it, and whether images pass through
/// it.
enum StackFindings {
    static func all(_ options: DoctorOptions) -> [DoctorFinding] {
        let route: StackRoute
        do throws(ImageError) {
            guard let found = try Self.route(options.stack) else {
                let place = options.stack.runtimeDirectory
                let says = "no stack runs in \(place.path)"
                // If a stack was specified explicitly, it is expected to run.
                return [
                    place.isNamed
                        ? .missing(
                            "stack", says, hint: "imagebus serve --runtime-dir \(place.path)")
                        : .ok(
                            "stack",
                            "\(says): imagebus get starts a private one, imagebus serve "
                                + "a shared one")
                ]
            }
            route = found
        } catch {
            return [
                .missing(
                    "stack", "\(error)",
                    hint:
                        "select the stack with --runtime-dir or --endpoint; usermod -a -G "
                        + "imagebus-clients USER lets a user load images from an installed one")
            ]
        }
        let sockets = sockets(route)
        guard sockets.allSatisfy({ $0.state == .ok }), access(route.paths.adminSocket, W_OK) == 0
        else { return sockets }
        return sockets + report(options.stack)
            + canary(StackCanary(milliseconds: options.milliseconds).run(route))
    }

    private static func route(_ stack: OperatorOptions) throws(ImageError) -> StackRoute? {
        if let endpoint = stack.endpoint { return try StackRoute(endpoint: endpoint) }
        return try StackRoute(in: stack.runtimeDirectory, asOperator: true)
    }

    private static func sockets(_ route: StackRoute) -> [DoctorFinding] {
        let (front, admin) = (route.paths.frontSocket, route.paths.adminSocket)
        let user = CurrentProcess.userID
        guard access(front, F_OK) == 0 || access(route.paths.root, X_OK) != 0 else {
            return [
                .missing(
                    "stack", "no coordinator listens at \(front)",
                    hint: "imagebus serve --runtime-dir \(route.paths.root)")
            ]
        }
        guard access(front, R_OK | W_OK) == 0 else {
            return [
                .missing(
                    "front socket", "user \(user) has no write permission for \(front)",
                    hint: "usermod -a -G imagebus-clients USER, then log in again")
            ]
        }
        let isOperator = access(admin, R_OK | W_OK) == 0
        return [
            .ok("front socket", "user \(user) can load images through \(front)"),
            .ok(
                "admin socket",
                isOperator
                    ? "user \(user) is an operator at \(admin)"
                    : "\(admin) is only accessible to operators, who can use status, cache and the "
                        + "canary"),
        ]
    }

    private static func report(_ stack: OperatorOptions) -> [DoctorFinding] {
        do throws(ImageError) {
            let report = try OperatorQuery.ask(stack) { client throws(ImageError) in
                try await client.status()
            }
            guard let complaint = HealthCommand.complaint(report) else {
                let seconds = report.uptimeMilliseconds / 1_000
                return [.ok("stack", "\(report.processes.count) processes, up \(seconds) s")]
                    + disks(report) + GroupFindings(report).all
            }
            return [
                .missing(
                    "stack", complaint,
                    hint: "check imagebus status and the log of serve (journalctl -u 'imagebus-*')")
            ] + GroupFindings(report).all
        } catch {
            return [
                .missing(
                    "stack", "\(error)", hint: "imagebus drain coordinator, or restart serve")
            ]
        }
    }

    /// Returns findings for disk caches that don't work; loads continue without them.
    static func disks(_ report: StatusReport) -> [DoctorFinding] {
        report.caches.filter { $0.disk == .degraded }.map { cache in
            .short(
                "disk cache", cache.diskReason,
                hint: "repair the file system of --cache-dir; the cache retries automatically")
        }
    }

    static func canary(_ steps: [StackCanary.Step]) -> [DoctorFinding] {
        guard let last = steps.last, last.error != nil else {
            let spent = steps.map { "\($0.stage.rawValue) \(Int($0.milliseconds.rounded())) ms" }
            return [.ok("canary", "an image passed through: \(spent.joined(separator: ", "))")]
        }
        return [
            .missing(
                "canary", last.sentence,
                hint: "imagebus status; imagebus drain \(last.stage.rawValue) restarts it")
        ]
    }
}

/// Checks the programs of a stack and their libraries.
enum ProgramFindings {
    /// The output of `imagebus-decode --abilities`, parsed by the first word of each line.
    struct Abilities: Hashable {
        var reads: [String] = []
        var writes: [String] = []
        var missing: [String] = []
        var libraries: [String] = []

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let rest = String(line.drop { $0 != " " }.dropFirst())
                switch line.prefix(while: { $0 != " " }) {
                case "reads": reads.append(rest)
                case "writes": writes.append(rest)
                case "lacks": missing.append(rest)
                case "library": libraries.append(rest)
                default: break
                }
            }
        }
    }

    static func all(in directory: String) -> [DoctorFinding] {
        let kinds = WorkerKind.allCases.map { ProcessKind.stack($0) } + [.gateway]
        let names = kinds.map(ChildSpecification.programName)
        let lost = names.filter { !isExecutable("\(directory)/\($0)") }
        guard lost.isEmpty else {
            return [
                .missing(
                    "programs", "\(directory) lacks \(lost.joined(separator: ", "))",
                    hint: "run scripts/build, or set IMAGEBUS_PROGRAMS to their directory")
            ]
        }
        let found = DoctorFinding.ok("programs", "\(directory) has all \(names.count) programs")
        return [found]
            + WorkerKind.workers.map { kind in
                let name = ChildSpecification.programName(.stack(kind))
                return finding(name, ProgramAnswer.text("\(directory)/\(name)", ["--abilities"]))
            }
    }

    /// Returns the finding for a program's output; `nil` means that there was no valid output.
    static func finding(_ name: String, _ text: String?) -> DoctorFinding {
        guard let text else {
            return .missing(
                name, "does not start: a library is missing or too old",
                hint: "ldd \(name); scripts/setup installs the required libraries")
        }
        let abilities = Abilities(text)
        let formats =
            (abilities.reads.isEmpty ? [] : ["reads \(abilities.reads.joined(separator: ", "))"])
            + (abilities.writes.isEmpty
                ? [] : ["writes \(abilities.writes.joined(separator: ", "))"])
        let libraries = abilities.libraries.joined(separator: ", ")
        let says = (formats + [libraries]).filter { !$0.isEmpty }.joined(separator: "; ")
        guard !abilities.missing.isEmpty else {
            return .ok(name, says.isEmpty ? "starts" : says)
        }
        return .short(
            name, "\(says); \(abilities.missing.joined(separator: "; "))",
            hint: "apt-get install libvips42 libheif1; scripts/setup installs all libraries")
    }

    private static func isExecutable(_ path: String) -> Bool {
        ((try? FileDescriptor.status(path: path))?.mode ?? 0) & 0o111 != 0
    }
}

/// Runs a program that prints something and exits.
enum ProgramAnswer {
    private static let milliseconds = 30_000
    private static let bytesMax = 65_536

    /// Returns its standard output; `nil` if it can't be started, exits with a nonzero status or
    /// times out. Standard error goes to /dev/null.
    static func text(_ path: String, _ arguments: [String]) -> String? {
        do throws(Errno) {
            let pipe = try FileDescriptor.pipe()
            var command = ChildCommand(path, arguments)
            command.descriptors[1] = .descriptor(pipe.writeEnd.number)
            command.descriptors[2] = .null
            let child = try ChildProcess(command)
            try pipe.writeEnd.close()
            let deadline = MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
            guard let bytes = try read(pipe.readEnd, until: deadline) else {
                try child.send(.kill)
                _ = try child.wait(milliseconds: milliseconds)
                return nil
            }
            guard case .exited(0)? = try child.wait(milliseconds: milliseconds) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            return nil
        }
    }

    private static func read(
        _ pipe: borrowing FileDescriptor, until deadline: UInt64
    ) throws(Errno) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let now = MonotonicClock.now()
            guard now < deadline else { return nil }
            guard try pipe.wait(for: .readable, milliseconds: Int((deadline - now) / 1_000_000) + 1)
            else { continue }
            let count = try pipe.read(into: buffer)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            if bytes.count > bytesMax { return nil }
        }
    }
}
