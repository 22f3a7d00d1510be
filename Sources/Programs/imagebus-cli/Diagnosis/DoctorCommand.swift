import CommandLineInterface
import Glibc
import Model
import ProcessRuntime
import Reporting

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
            - the space for shared memory and the disk tier, in the directory that the running stack
              uses unless --cache-dir names another one;
            - the programs, their formats and the packages of their libraries;
            - the sockets, processes and disk tier of a running stack, which also processes a small
              image.

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
    /// Whether the cache directory was specified, so that it is not that of the running stack.
    var namesCacheDirectory: Bool
    /// The directory of the stack's programs; `nil` if it can't be determined.
    var programs: String?
    /// The timeout for an image to pass through the stack, in milliseconds.
    var milliseconds: Int
    /// Whether to use colors; false if NO_COLOR is set.
    var hasColors: Bool

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
        cacheDirectory = try read.cacheDirectory(environment)
        namesCacheDirectory = read.isSet(OptionDefinition.cacheDirectory.name)
        programs = try? ServeOptions.programsDirectory(environment: environment)
        milliseconds = try Self.within(read)
        hasColors = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Parses `--within`.
    static func within(_ read: ReadOptions) throws(UsageError) -> Int {
        try read.milliseconds("within", atMost: withinMillisecondsMax)
            ?? StackCanary.usualMilliseconds
    }

    private static let withinMillisecondsMax = 60_000
}

/// `imagebus doctor`: what is wrong with this machine and its stack, and how to fix it.
enum DoctorCommand {
    static func run(_ options: DoctorOptions) -> Int32 {
        let report = DoctorReport(DoctorSubject(options))
        if options.stack.printsJSON {
            // Texts can always be encoded as JSON.
            let text = (try? JSONText.text(report.object)) ?? ""
            return Terminal.finish("doctor", text, status: report.exitStatus)
        }
        guard isatty(1) == 1, options.hasColors else {
            return Terminal.finish(
                "doctor", report.text(colored: false), status: report.exitStatus)
        }
        Terminal.control(1, report.text(colored: true, columns: TerminalScreen.current?.columns))
        return report.exitStatus
    }
}

/// What the checks examine; each part is determined once.
struct DoctorSubject {
    var machine: MachineChecks
    /// `nil` if their directory can't be determined.
    var programs: StackPrograms?
    var stack: DoctorStack?
}

extension DoctorSubject {
    init(_ options: DoctorOptions) {
        let stack = DoctorStack(options)
        machine = MachineChecks(
            MachineProperties(
                runtime: options.stack.runtimeDirectory.path, cache: options.cacheDirectory))
        if !options.namesCacheDirectory { machine.stackCache = stack.cacheDirectory }
        programs = options.programs.map { StackPrograms(in: $0) }
        self.stack = stack
    }
}

/// Something that `doctor` checks.
struct DoctorCheck: Sendable {
    /// One or two words.
    let name: String
    /// What is checked, as a noun phrase.
    let purpose: String
    /// Returns `nil` if the check doesn't apply.
    let result: @Sendable (DoctorSubject) -> DoctorResult?

    init(
        _ name: String, _ purpose: String,
        _ result: @escaping @Sendable (DoctorSubject) -> DoctorResult?
    ) {
        (self.name, self.purpose, self.result) = (name, purpose, result)
    }

    /// All checks, in the order of the output.
    static let all: [DoctorCheck] = ofMachine + ofPrograms + ofStack

    private static let ofMachine: [DoctorCheck] = [
        DoctorCheck("kernel", "the kernel functions that serve requires") { $0.machine.kernel },
        DoctorCheck("landlock", "the isolation of decoders from files") { $0.machine.landlock },
        DoctorCheck("seccomp", "the system call filter of decoders") { $0.machine.seccomp },
        DoctorCheck("descriptors", "the limit on file descriptors") { $0.machine.descriptors },
        DoctorCheck("memory", "memory for one decoder per core") { $0.machine.memory },
        DoctorCheck("disk transfers", "limits on disk transfers") { $0.machine.transfers },
        DoctorCheck("runtime directory", "space for shared memory") { $0.machine.runtime },
        DoctorCheck("cache directory", "space for the disk tier") { $0.machine.cache },
    ]

    private static let ofPrograms: [DoctorCheck] =
        [DoctorCheck("programs", "the installed programs") { $0.programs?.presence }]
        + WorkerKind.workers.map { kind in
            DoctorCheck(StackPrograms.name(of: kind), "its formats and libraries") {
                $0.programs?.result(of: kind)
            }
        }

    private static let ofStack: [DoctorCheck] =
        [
            DoctorCheck("front socket", "permission to load images") { $0.stack?.front },
            DoctorCheck("admin socket", "permission to operate the stack") { $0.stack?.admin },
            DoctorCheck("stack", "the processes of the running stack") { $0.stack?.state },
            DoctorCheck("disk tier", "the state of the disk tier") { $0.stack?.diskTier },
        ]
        + [WorkerKind.decode, .transform].map { kind in
            DoctorCheck("\(kind.name) memory", "the control group of each process") {
                $0.stack?.memory(of: kind)
            }
        } + [DoctorCheck("canary", "a small image through all stages") { $0.stack?.canary }]
}

/// What a check found.
struct DoctorResult: Hashable {
    /// The severity.
    enum State: String {
        case ok
        /// It works, but not as well as it could.
        case short
        /// Something doesn't work.
        case missing
    }

    let state: State
    /// What was found, and its consequences.
    let says: String
    /// What to do; `nil` if everything is fine.
    var hint: String?

    static func ok(_ says: String) -> DoctorResult { DoctorResult(state: .ok, says: says) }

    static func short(_ says: String, hint: String) -> DoctorResult {
        DoctorResult(state: .short, says: says, hint: hint)
    }

    static func missing(_ says: String, hint: String) -> DoctorResult {
        DoctorResult(state: .missing, says: says, hint: hint)
    }
}

/// The output of `imagebus doctor`.
struct DoctorReport {
    struct Finding {
        let check: DoctorCheck
        let result: DoctorResult
    }

    let findings: [Finding]

    init(_ findings: [Finding]) { self.findings = findings }

    /// Runs all checks.
    init(_ subject: DoctorSubject) {
        self.init(
            DoctorCheck.all.compactMap { check in
                check.result(subject).map { Finding(check: check, result: $0) }
            })
    }

    /// The output of `--json` (SEMANTICS §15.11).
    var object: JSONObject {
        let findings = self.findings.map { (finding) -> JSONObject in
            let (check, result) = (finding.check, finding.result)
            return [
                "name": check.name, "checks": check.purpose, "state": result.state.rawValue,
                "says": result.says, "mend": result.hint,
            ]
        }
        return ["findings": findings]
    }

    /// 0 unless something is missing; shortages don't count as failures.
    var exitStatus: Int32 {
        findings.contains { $0.result.state == .missing } ? Self.errorStatus : 0
    }

    private static let errorStatus: Int32 = 1

    /// Formats one line per finding, followed by what to do; `columns` wraps long lines.
    func text(colored: Bool, columns: Int? = nil) -> String {
        let width = (findings.map(\.check.name.count).max() ?? 0) + 2
        let lines = findings.map { finding in
            let result = finding.result
            let state = HelpText.padded(result.state.rawValue, to: Self.stateWidth)
            let painted = colored ? Self.painted(state, result.state) : state
            let name = HelpText.padded(finding.check.name, to: width)
            let blank = HelpText.padded("", to: Self.stateWidth + width)
            let room = columns.map { max(Self.roomMin, $0 - Self.stateWidth - width) }
            let says = Self.broken(result.says, to: room, below: blank)
            let hint = result.hint.map { text in
                let text = Self.broken(text, to: room.map { $0 - 3 }, below: blank + "   ")
                return "\(blank)-> \(text)\n"
            }
            return "\(painted)\(name)\(says)\n\(hint ?? "")"
        }
        return lines.joined() + "\(summary)\n"
    }

    private var summary: String {
        let missing = findings.count { $0.result.state == .missing }
        let short = findings.count { $0.result.state == .short }
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

    private static func painted(_ text: String, _ state: DoctorResult.State) -> String {
        let color =
            switch state {
            case .ok: 32
            case .short: 33
            case .missing: 31
            }
        return "\u{1B}[\(color)m\(text)\u{1B}[0m"
    }
}
