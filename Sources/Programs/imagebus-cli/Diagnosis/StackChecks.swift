import CommandLineInterface
import Glibc
import Linux
import Model
import ProcessRuntime
import Reporting

/// The running stack, as far as this user may look at it, with the checks of it.
struct DoctorStack {
    private let place: RuntimePlace
    private let route: Result<StackRoute?, ImageError>
    /// The status; `nil` if this user is not an operator of a running stack.
    private let report: Result<StatusReport, ImageError>?
    private let steps: [StackCanary.Step]

    init(_ options: DoctorOptions) {
        let stack = options.stack
        place = stack.runtimeDirectory
        route = Result { () throws(ImageError) in try stack.runningRoute() }
        guard case .success(let running?) = route, Self.mayUse(running.paths.frontSocket),
            Self.mayUse(running.paths.adminSocket)
        else {
            (report, steps) = (nil, [])
            return
        }
        report = Result { () throws(ImageError) in try StatusCommand.report(stack) }
        steps = StackCanary(milliseconds: options.milliseconds).run(running)
    }

    /// The route to a stack whose coordinator listens, or whose sockets this user can't see.
    private var listening: StackRoute? {
        guard case .success(let running?) = route,
            access(running.paths.frontSocket, F_OK) == 0
                || access(running.paths.root, X_OK) != 0
        else { return nil }
        return running
    }

    private static func mayUse(_ socket: String) -> Bool { access(socket, R_OK | W_OK) == 0 }

    var front: DoctorResult? {
        guard let front = listening?.paths.frontSocket else { return nil }
        let user = CurrentProcess.userID
        return Self.mayUse(front)
            ? .ok("user \(user) can load images through \(front)")
            : .missing(
                "user \(user) has no write permission for \(front)",
                hint: "usermod -a -G imagebus-clients USER, then log in again")
    }

    var admin: DoctorResult? {
        guard let paths = listening?.paths, Self.mayUse(paths.frontSocket) else { return nil }
        let admin = paths.adminSocket
        return .ok(
            Self.mayUse(admin)
                ? "user \(CurrentProcess.userID) is an operator at \(admin)"
                : "\(admin) is only accessible to operators, who can use status, cache and the "
                    + "canary")
    }

    var state: DoctorResult? {
        switch route {
        case .failure(let error):
            return .missing(
                "\(error)",
                hint: "select the stack with --runtime-dir or --endpoint; usermod -a -G "
                    + "imagebus-clients USER lets a user load images from an installed one")
        case .success(nil):
            let says = "no stack runs in \(place.path)"
            // If a stack was specified explicitly, it is expected to run.
            return place.isNamed
                ? .missing(says, hint: "imagebus serve --runtime-dir \(place.path)")
                : .ok("\(says): imagebus get starts a private one, imagebus serve a shared one")
        case .success(let route?):
            guard listening != nil else {
                return .missing(
                    "no coordinator listens at \(route.paths.frontSocket)",
                    hint: "imagebus serve --runtime-dir \(route.paths.root)")
            }
            return processes
        }
    }

    private var processes: DoctorResult? {
        switch report {
        case nil: return nil
        case .failure(let error)?:
            return .missing("\(error)", hint: "imagebus drain coordinator, or restart serve")
        case .success(let report)?:
            guard let complaint = HealthCommand.complaint(report) else {
                let seconds = report.uptimeMilliseconds / 1_000
                return .ok("\(report.processes.count) processes, up \(seconds) s")
            }
            return .missing(
                complaint,
                hint: "check imagebus status and the log of serve (journalctl -u 'imagebus-*')")
        }
    }

    var diskTier: DoctorResult? {
        guard case .success(let report)? = report else { return nil }
        let degraded = report.caches.first { $0.disk == .degraded }
        guard let cache = degraded ?? report.caches.first else {
            return .ok("not known yet: the cache has just started")
        }
        return Self.diskTier(cache)
    }

    /// Loads continue without a disk tier that doesn't work.
    static func diskTier(_ cache: CacheStatus) -> DoctorResult {
        switch cache.disk {
        case .none: return .ok("none: the stack caches in memory only")
        case .degraded:
            return .short(
                cache.diskReason,
                hint: "repair the file system of --cache-dir; the cache retries automatically")
        case .healthy:
            let size = ByteText.text(cache.diskBytes)
            let limit = cache.diskBytesMax == 0 ? "" : " of \(ByteText.text(cache.diskBytesMax))"
            return .ok("healthy: \(cache.diskEntries) entries, \(size)\(limit)")
        }
    }

    /// The cache directory in the arguments of the cache process; unknown if that process is not
    /// visible here, such as in another container.
    var cacheDirectory: StackCache {
        guard case .success(let report)? = report,
            let process = report.processes.first(where: { $0.kind == .cache }),
            let bytes = try? FileDescriptor.open("/proc/\(process.pid)/cmdline")
                .readToEnd(bytesMax: 1 << 16)
        else { return .unknown }
        return StackCache(arguments: bytes)
    }

    /// Whether the control groups of a kind allow the memory that its processes need. Otherwise
    /// the kernel kills a process before the process's own limit refuses an image.
    func memory(of kind: WorkerKind) -> DoctorResult? {
        guard case .success(let report)? = report else { return nil }
        let limits = report.processes.filter { $0.kind == kind }.compactMap { process in
            ProcessID(exactly: process.pid).flatMap { number in
                number > 0 ? MemorySupply.groupLimit(of: number) : nil
            }
        }
        return Self.memory(of: kind, limits: limits)
    }

    /// `limits` are those of the control groups, in bytes.
    static func memory(of kind: WorkerKind, limits: [Int]) -> DoctorResult? {
        guard let least = limits.min(), let wanted = ImageLimits.groupBytes(kind) else {
            return nil
        }
        let limit = UInt64(max(0, least))
        let says = "the control group of a \(kind.name) process has \(ByteText.text(limit))"
        guard limit < wanted else { return .ok(says) }
        return .short(
            "\(says), but the process may need \(ByteText.text(wanted)): the kernel kills it on "
                + "large images",
            hint: "MemoryMax=\(wanted >> 20)M in its unit, "
                + "IMAGEBUS_\(kind.name.uppercased())_MEMORY=\(wanted >> 20)m in "
                + "docker/compose.yaml, or a lower --pixel-limit")
    }

    var canary: DoctorResult? { Self.canary(steps) }

    /// `nil` if no image was sent.
    static func canary(_ steps: [StackCanary.Step]) -> DoctorResult? {
        guard let last = steps.last else { return nil }
        guard last.error == nil else {
            return .missing(
                last.sentence,
                hint: "imagebus status; imagebus drain \(last.stage.rawValue) restarts it")
        }
        let spent = steps.map { "\($0.stage.rawValue) \(Int($0.milliseconds.rounded())) ms" }
        return .ok("an image passed through: \(spent.joined(separator: ", "))")
    }
}

/// The cache directory of a running stack.
enum StackCache: Hashable {
    case unknown
    /// There is none.
    case memoryOnly
    case directory(String)

    /// Parses the arguments of a process, which each end with a zero byte.
    init(arguments: [UInt8]) {
        let words = arguments.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        guard words.first?.split(separator: "/").last == "imagebus-cache" else {
            self = .unknown
            return
        }
        let named = words.drop { $0 != "--cache-dir" }.dropFirst().first
        self = named.map { .directory($0) } ?? .memoryOnly
    }
}
