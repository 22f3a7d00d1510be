import Glibc
import Linux
import Model
import Reporting

/// Derives findings from the facts of a machine, without examining the machine itself.
struct MachineFindings {
    let properties: MachineProperties

    /// The shared memory that a stack on two cores uses with the default limits, in bytes: results,
    /// pixels, encoded images and originals (docker/README.md).
    static let sharedBytes: UInt64 = (384 + 768 + 384 + 384) << 20
    /// With less than this, a single photograph fills it.
    static let sharedBytesMin: UInt64 = 64 << 20
    /// The recommended memory of a stack, and the amount added per core.
    static let memoryBytes = 1 << 30
    static let memoryBytesOfCore = 512 << 20
    private static let memoryBytesMin = 256 << 20
    /// The number of file descriptors for a process with many clients, and for any process.
    private static let descriptors: UInt64 = 16_384
    private static let descriptorsMin: UInt64 = 1_024
    private static let cacheBytes: UInt64 = 1 << 30
    private static let cacheBytesMin: UInt64 = 64 << 20

    var all: [DoctorFinding] {
        [kernel, landlock, filters, descriptors, memory, transfers, runtime, cache]
    }

    var kernel: DoctorFinding {
        let lacks =
            (properties.hasMemoryFiles ? [] : ["memfd"])
            + (properties.hasProcessReferences ? [] : ["pidfd"])
        guard lacks.isEmpty else {
            return .missing(
                "kernel",
                "Linux \(properties.release) lacks \(lacks.joined(separator: " and ")): serve "
                    + "cannot start", hint: "use Linux 5.4 or newer (uname -r)")
        }
        return .ok("kernel", "Linux \(properties.release), with memfd and pidfd")
    }

    var landlock: DoctorFinding {
        guard let version = properties.landlock else {
            return .short(
                "landlock",
                "not available: a compromised decoder could open the files of its "
                    + "user",
                hint: "boot with lsm=landlock,… (cat /sys/kernel/security/lsm); in a container, "
                    + "allow landlock_create_ruleset in its seccomp profile")
        }
        guard version >= 4 else {
            return .ok("landlock", "version \(version): decoders cannot open files")
        }
        return .ok("landlock", "version \(version): decoders cannot open files or use TCP")
    }

    var filters: DoctorFinding {
        guard properties.hasFilters else {
            return .short(
                "seccomp",
                "not available: a compromised decoder could make any system call",
                hint: "use a kernel with CONFIG_SECCOMP_FILTER=y")
        }
        return .ok("seccomp", "system calls of decoders are filtered")
    }

    var descriptors: DoctorFinding {
        let number = properties.descriptors == .max ? "unlimited" : "\(properties.descriptors)"
        guard properties.descriptors < Self.descriptors else {
            return .ok("descriptors", "\(number) per process (RLIMIT_NOFILE)")
        }
        let hint = "ulimit -Hn \(Self.descriptors), or LimitNOFILE=\(Self.descriptors) in the unit"
        guard properties.descriptors >= Self.descriptorsMin else {
            return .missing(
                "descriptors",
                "\(number) per process (RLIMIT_NOFILE): the coordinator exits when "
                    + "they run out", hint: hint)
        }
        return .short(
            "descriptors",
            "\(number) per process (RLIMIT_NOFILE), which limits clients and "
                + "connections", hint: hint)
    }

    var memory: DoctorFinding {
        let limits = [properties.memory.limitBytes, properties.memory.totalBytes].compactMap { $0 }
        guard let bytes = limits.min() else {
            return .short(
                "memory", "the amount of memory is unknown",
                hint: "mount cgroup v2 at /sys/fs/cgroup")
        }
        let isGroup = properties.memory.limitBytes == bytes
        let wanted = Self.memoryBytes + Self.memoryBytesOfCore * properties.processors
        let says = "\(Self.text(bytes)) \(isGroup ? "in the control group" : "in total")"
        guard bytes < wanted else { return .ok("memory", says) }
        let hint =
            "serve --decode 1 --transform 1 --memory-limit 64M"
            + (isGroup ? ", or raise memory.max (docker run --memory, MemoryMax= in the unit)" : "")
        let reason =
            "\(says); \(properties.processors) decoders and \(properties.processors) transformers "
            + "need about \(Self.text(wanted))"
        return bytes < Self.memoryBytesMin
            ? .missing("memory", "\(reason): the kernel may kill processes", hint: hint)
            : .short("memory", "\(reason): large images are refused or wait", hint: hint)
    }

    var transfers: DoctorFinding {
        guard let first = properties.transferLimits.first else {
            return .ok("disk transfers", "not limited by the control group (io.max)")
        }
        return .short(
            "disk transfers",
            "limited by the control group ('\(first)'), which slows the disk tier "
                + "down",
            hint: "raise io.max (IOReadBandwidthMax=, IOWriteBandwidthMax= in the unit)")
    }

    var runtime: DoctorFinding {
        let place = properties.runtime
        guard place.isWritable else {
            return .missing(
                "runtime directory",
                "\(place.path) cannot be created: no write permission for "
                    + "\(place.nearest)",
                hint: "imagebus serve --runtime-dir with a directory of this user on tmpfs")
        }
        // If the directory is on a disk, segments are in /dev/shm; the caller has checked that.
        guard place.isTemporary else {
            return .missing(
                "runtime directory", "\(place.path) is on a disk, and no tmpfs is available",
                hint: "mount -t tmpfs -o size=2G tmpfs /dev/shm")
        }
        let says =
            "\(place.path): \(Self.text(place.availableBytes)) of "
            + "\(Self.text(place.totalBytes)) shared memory free at \(place.nearest)"
        guard place.availableBytes < Self.sharedBytes else { return .ok("runtime directory", says) }
        let hint =
            "mount -o remount,size=2G FILESYSTEM (see findmnt -T \(place.nearest)), or "
            + "docker run --shm-size 2g"
        let wanted = "\(says); a stack on two processors needs about \(Self.text(Self.sharedBytes))"
        return place.availableBytes < Self.sharedBytesMin
            ? .missing("runtime directory", "\(wanted): large images do not fit", hint: hint)
            : .short("runtime directory", "\(wanted): jobs wait for space", hint: hint)
    }

    var cache: DoctorFinding {
        guard let place = properties.cache else {
            // Not an error: --cache-dir can be given on start, and a running stack may have one.
            return .short(
                "cache directory", "XDG_CACHE_HOME and HOME are not set",
                hint: "imagebus serve --cache-dir DIRECTORY")
        }
        guard place.isWritable else {
            return .missing(
                "cache directory",
                "\(place.path) cannot be written: no write permission for "
                    + "\(place.nearest)", hint: "imagebus serve --cache-dir DIRECTORY, or chown it")
        }
        let limit = CacheSetting.usualDiskLimit(ofFileSystem: place.totalBytes)
        let says =
            "\(place.path): \(Self.text(place.availableBytes)) free; without --disk-limit the "
            + "disk tier uses at most \(Self.text(UInt64(limit)))"
        guard place.availableBytes < Self.cacheBytes else { return .ok("cache directory", says) }
        let hint = "imagebus cache trim, serve --disk-limit, or --cache-dir on a larger disk"
        return place.availableBytes < Self.cacheBytesMin
            ? .missing("cache directory", "\(says): the disk tier cannot store entries", hint: hint)
            : .short("cache directory", "\(says): the disk tier is small", hint: hint)
    }

    private static func text(_ bytes: Int) -> String { ByteText.text(UInt64(max(0, bytes))) }
    private static func text(_ bytes: UInt64) -> String { ByteText.text(bytes) }
}

/// The properties of this machine that matter to a stack.
struct MachineProperties {
    /// For instance, `6.1.0-18-amd64`.
    var release: String
    var processors: Int
    /// The Landlock ABI version; `nil` if it is unavailable to this process.
    var landlock: Int?
    /// Whether system calls can be filtered.
    var hasFilters: Bool
    /// Whether sealed memory files (memfd) and process descriptors (pidfd) are available.
    var hasMemoryFiles: Bool
    var hasProcessReferences: Bool
    /// The limit on file descriptors per process; `.max` for no limit.
    var descriptors: UInt64
    var memory: MemorySupply
    /// The lines of `io.max` of the control group and its ancestors.
    var transferLimits: [String]
    var runtime: DirectoryProperties
    /// `nil` if no cache directory can be determined.
    var cache: DirectoryProperties?

    /// Reads the current facts. `process` is the path of `/proc`, `groups` is the mount point of
    /// cgroup v2.
    init(
        runtime: String, cache: String?, process: String = "/proc",
        groups: String = "/sys/fs/cgroup"
    ) {
        release = Self.line("\(process)/sys/kernel/osrelease")
        processors = CurrentProcess.processorCount
        landlock = (try? LandlockRuleset())?.version
        hasFilters = Self.line("\(process)/sys/kernel/seccomp/actions_avail").contains("errno")
        hasMemoryFiles = (try? FileDescriptor.sealed([0], name: "doctor")) != nil
        hasProcessReferences = (try? ProcessDescriptor(CurrentProcess.processID)) != nil
        descriptors = (try? ResourceLimit.current(.descriptors))?.hard ?? 0
        memory = MemorySupply.now(groups: groups, process: process)
        transferLimits = Self.transferLimits(process, groups)
        self.runtime = DirectoryProperties(runtime)
        self.cache = cache.map(DirectoryProperties.init)
    }

    private static func transferLimits(_ process: String, _ groups: String) -> [String] {
        let own =
            text("\(process)/self/cgroup").split(separator: "\n")
            .first { $0.hasPrefix("0::/") }.map { String($0.dropFirst(3)) } ?? "/"
        var path = own == "/" ? "" : own
        var lines: [String] = []
        while true {
            lines += text("\(groups)\(path)/io.max").split(separator: "\n").map(String.init)
            guard let cut = path.lastIndex(of: "/") else { return lines }
            path = String(path[..<cut])
        }
    }

    private static func line(_ path: String) -> String {
        String(text(path).prefix { $0 != "\n" })
    }

    private static func text(_ path: String) -> String {
        guard let file = try? FileDescriptor.open(path),
            let bytes = try? file.readToEnd(bytesMax: 65_536)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The properties of a directory, or of the one in which it would be created.
struct DirectoryProperties {
    /// The path as specified.
    var path: String
    /// The existing directory: `path` or its nearest ancestor.
    var nearest: String
    var isWritable: Bool
    /// Whether its files are in memory (tmpfs).
    var isTemporary: Bool
    var totalBytes: UInt64
    var availableBytes: UInt64

    init(
        path: String, nearest: String, isWritable: Bool, isTemporary: Bool, totalBytes: UInt64,
        availableBytes: UInt64
    ) {
        (self.path, self.nearest, self.isWritable) = (path, nearest, isWritable)
        (self.isTemporary, self.totalBytes) = (isTemporary, totalBytes)
        self.availableBytes = availableBytes
    }

    /// Reads the current properties.
    init(_ path: String) {
        var nearest = path
        while access(nearest, F_OK) != 0, let cut = nearest.lastIndex(of: "/"), nearest != "/" {
            nearest = cut == nearest.startIndex ? "/" : String(nearest[..<cut])
        }
        let status = try? FileDescriptor.openDirectory(nearest).fileSystemStatus()
        self.init(
            path: path, nearest: nearest, isWritable: access(nearest, W_OK | X_OK) == 0,
            isTemporary: status?.isTemporary ?? false, totalBytes: status?.totalBytes ?? 0,
            availableBytes: status?.availableBytes ?? 0)
    }
}

/// Checks whether the control groups of decoders and transformers allow the memory these processes
/// need. Otherwise the kernel kills a process before the process's own limit refuses an image.
struct GroupFindings {
    /// The memory limit of one process's control group, in bytes.
    struct Group {
        let kind: WorkerKind
        let limitBytes: Int
    }

    let groups: [Group]

    init(_ groups: [Group]) { self.groups = groups }

    /// Reads the groups of the stack's processes that are visible here.
    init(_ report: StatusReport) {
        groups = report.processes.compactMap { process in
            guard let number = ProcessID(exactly: process.pid), number > 0,
                let limit = MemorySupply.groupLimit(of: number)
            else { return nil }
            return Group(kind: process.kind, limitBytes: limit)
        }
    }

    /// One finding per kind with a limit.
    var all: [DoctorFinding] {
        [WorkerKind.decode, .transform].compactMap { kind in
            let limits = groups.filter { $0.kind == kind }.map(\.limitBytes)
            guard let least = limits.min(), let wanted = ImageLimits.groupBytes(kind) else {
                return nil
            }
            return finding(kind, UInt64(max(0, least)), wanted)
        }
    }

    private func finding(_ kind: WorkerKind, _ limit: UInt64, _ wanted: UInt64) -> DoctorFinding {
        let name = "\(kind.name) memory"
        let says = "the control group of a \(kind.name) process has \(ByteText.text(limit))"
        guard limit < wanted else { return .ok(name, says) }
        return .short(
            name,
            "\(says), but the process may need \(ByteText.text(wanted)): the kernel kills it on "
                + "large images",
            hint: "MemoryMax=\(wanted >> 20)M in its unit, "
                + "IMAGEBUS_\(kind.name.uppercased())_MEMORY=\(wanted >> 20)m in "
                + "docker/compose.yaml, or a lower --pixel-limit")
    }
}
