import Glibc
import Linux
import Model
import Reporting

/// The checks of a machine, by its properties, without examining the machine itself.
struct MachineChecks {
    private let properties: MachineProperties
    /// The cache directory of the running stack, which replaces that of the properties if known.
    var stackCache = StackCache.unknown

    init(_ properties: MachineProperties) { self.properties = properties }

    /// The shared memory that a stack on two cores uses with the default limits, in bytes: results,
    /// pixels, encoded images and originals (docker/README.md).
    private static let sharedBytes: UInt64 = (384 + 768 + 384 + 384) << 20
    /// With less than this, a single photograph fills it.
    private static let sharedBytesMin: UInt64 = 64 << 20
    /// The recommended memory of a stack, and the amount added per core.
    private static let memoryBytes: UInt64 = 1 << 30
    private static let memoryBytesOfCore: UInt64 = 512 << 20
    private static let memoryBytesMin: UInt64 = 256 << 20
    /// The number of file descriptors for a process with many clients, and for any process.
    private static let descriptors: UInt64 = 16_384
    private static let descriptorsMin: UInt64 = 1_024
    private static let cacheBytes: UInt64 = 1 << 30
    private static let cacheBytesMin: UInt64 = 64 << 20

    /// Returns the result for an amount: missing below the minimum, short below what is wanted.
    private func grade(
        _ amount: UInt64, _ minimum: UInt64, _ wanted: UInt64, _ says: String,
        missing: String, short: String, hint: String
    ) -> DoctorResult {
        if amount >= wanted { return .ok(says) }
        return amount < minimum
            ? .missing(says + missing, hint: hint) : .short(says + short, hint: hint)
    }

    var kernel: DoctorResult {
        let lacks =
            (properties.hasMemoryFiles ? [] : ["memfd"])
            + (properties.hasProcessReferences ? [] : ["pidfd"])
        guard lacks.isEmpty else {
            return .missing(
                "Linux \(properties.release) lacks \(lacks.joined(separator: " and ")): serve "
                    + "cannot start", hint: "use Linux 5.4 or newer (uname -r)")
        }
        return .ok("Linux \(properties.release), with memfd and pidfd")
    }

    var landlock: DoctorResult {
        guard let version = properties.landlock else {
            return .short(
                "not available: a compromised decoder could open the files of its user",
                hint: "boot with lsm=landlock,… (cat /sys/kernel/security/lsm); in a container, "
                    + "allow landlock_create_ruleset in its seccomp profile")
        }
        return .ok(
            "version \(version): decoders cannot open files" + (version < 4 ? "" : " or use TCP"))
    }

    var seccomp: DoctorResult {
        guard properties.hasFilters else {
            return .short(
                "not available: a compromised decoder could make any system call",
                hint: "use a kernel with CONFIG_SECCOMP_FILTER=y")
        }
        return .ok("system calls of decoders are filtered")
    }

    var descriptors: DoctorResult {
        let limit = properties.descriptors
        let number = limit == .max ? "unlimited" : "\(limit)"
        return grade(
            limit, Self.descriptorsMin, Self.descriptors,
            "\(number) per process (RLIMIT_NOFILE)",
            missing: ": the coordinator exits when they run out",
            short: ", which limits clients and connections",
            hint: "ulimit -Hn \(Self.descriptors), or LimitNOFILE=\(Self.descriptors) in the unit")
    }

    var memory: DoctorResult {
        let (group, total) = (properties.memory.limitBytes, properties.memory.totalBytes)
        guard let bytes = [group, total].compactMap({ $0 }).min() else {
            return .short(
                "the amount of memory is unknown", hint: "mount cgroup v2 at /sys/fs/cgroup")
        }
        let (isGroup, cores) = (group == bytes, properties.processors)
        let amount = UInt64(max(0, bytes))
        let wanted = Self.memoryBytes + Self.memoryBytesOfCore * UInt64(cores)
        let need = "; \(cores) decoders and \(cores) transformers need about \(text(wanted))"
        return grade(
            amount, Self.memoryBytesMin, wanted,
            "\(text(amount)) \(isGroup ? "in the control group" : "in total")",
            missing: "\(need): the kernel may kill processes",
            short: "\(need): large images are refused or wait",
            hint: "serve --decode 1 --transform 1 --memory-limit 64M"
                + (isGroup
                    ? ", or raise memory.max (docker run --memory, MemoryMax= in the unit)" : ""))
    }

    var transfers: DoctorResult {
        guard let first = properties.transferLimits.first else {
            return .ok("not limited by the control group (io.max)")
        }
        return .short(
            "limited by the control group ('\(first)'), which slows the disk tier down",
            hint: "raise io.max (IOReadBandwidthMax=, IOWriteBandwidthMax= in the unit)")
    }

    var runtime: DoctorResult {
        let place = properties.runtime
        guard place.isWritable else {
            return .missing(
                "\(place.path) cannot be created: no write permission for \(place.nearest)",
                hint: "imagebus serve --runtime-dir with a directory of this user on tmpfs")
        }
        // If the directory is on a disk, segments are in /dev/shm.
        let memory = place.isTemporary ? place : properties.sharedMemory
        guard memory.isTemporary else {
            return .missing(
                "\(place.path) is on a disk, and no tmpfs is available",
                hint: "mount -t tmpfs -o size=2G tmpfs /dev/shm")
        }
        let need = "; a stack on two processors needs about \(text(Self.sharedBytes))"
        return grade(
            memory.availableBytes, Self.sharedBytesMin, Self.sharedBytes,
            "\(place.path): \(text(memory.availableBytes)) of \(text(memory.totalBytes)) shared "
                + "memory free at \(memory.nearest)",
            missing: "\(need): large images do not fit", short: "\(need): jobs wait for space",
            hint: "mount -o remount,size=2G FILESYSTEM (see findmnt -T \(memory.nearest)), or "
                + "docker run --shm-size 2g")
    }

    var cache: DoctorResult {
        switch stackCache {
        case .unknown: break
        case .memoryOnly: return .ok("none: the stack caches in memory only")
        case .directory(let path):
            let place = DirectoryProperties(path)
            // Another user's directory; its state is that of the disk tier.
            guard place.isReadable else { return .ok("\(path), which only the stack can read") }
            return space(in: place)
        }
        guard let place = properties.cache else {
            // Not an error: --cache-dir can be given on start.
            return .short(
                "XDG_CACHE_HOME and HOME are not set", hint: "imagebus serve --cache-dir DIRECTORY")
        }
        guard place.isWritable else {
            return .missing(
                "\(place.path) cannot be written: no write permission for \(place.nearest)",
                hint: "imagebus serve --cache-dir DIRECTORY, or chown it")
        }
        return space(in: place)
    }

    private func space(in place: DirectoryProperties) -> DoctorResult {
        let limit = CacheSetting.usualDiskLimit(ofFileSystem: place.totalBytes)
        return grade(
            place.availableBytes, Self.cacheBytesMin, Self.cacheBytes,
            "\(place.path): \(text(place.availableBytes)) free; without --disk-limit the disk tier "
                + "uses at most \(text(UInt64(limit)))",
            missing: ": the disk tier cannot store entries", short: ": the disk tier is small",
            hint: "imagebus cache trim, serve --disk-limit, or --cache-dir on a larger disk")
    }

    private func text(_ bytes: UInt64) -> String { ByteText.text(bytes) }
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
    /// Where segments are if the runtime directory is on a disk.
    var sharedMemory: DirectoryProperties
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
        sharedMemory = DirectoryProperties("/dev/shm")
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
    /// Whether its file system can be examined.
    var isReadable = true
    /// Whether its files are in memory (tmpfs).
    var isTemporary: Bool
    var totalBytes: UInt64
    var availableBytes: UInt64

}

extension DirectoryProperties {
    /// Reads the current properties.
    init(_ path: String) {
        var nearest = path
        while access(nearest, F_OK) != 0, let cut = nearest.lastIndex(of: "/"), nearest != "/" {
            nearest = cut == nearest.startIndex ? "/" : String(nearest[..<cut])
        }
        let status = try? FileDescriptor.openDirectory(nearest).fileSystemStatus()
        self.init(
            path: path, nearest: nearest, isWritable: access(nearest, W_OK | X_OK) == 0,
            isReadable: status != nil, isTemporary: status?.isTemporary ?? false,
            totalBytes: status?.totalBytes ?? 0, availableBytes: status?.availableBytes ?? 0)
    }
}
