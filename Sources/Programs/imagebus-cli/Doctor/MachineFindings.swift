import Linux
import Messages
import Reporting

/// What follows from the facts of a machine. No look at the machine itself.
struct MachineFindings {
    let facts: MachineFacts

    /// Bytes of shared memory that a stack of two cores fills with its usual limits: results,
    /// pixels, encoded images and originals (docker/README.md).
    static let sharedBytes: UInt64 = (384 + 768 + 384 + 384) << 20
    /// Less than this and one photograph fills it.
    static let sharedBytesMin: UInt64 = 64 << 20
    /// Memory of a stack, and of each core more.
    static let memoryBytes = 1 << 30
    static let memoryBytesOfCore = 512 << 20
    private static let memoryBytesMin = 256 << 20
    /// Descriptors of a process that has many clients, and of any.
    private static let descriptors: UInt64 = 16_384
    private static let descriptorsMin: UInt64 = 1_024
    private static let cacheBytes: UInt64 = 1 << 30
    private static let cacheBytesMin: UInt64 = 64 << 20

    var all: [DoctorFinding] {
        [kernel, landlock, filters, descriptors, memory, transfers, runtime, cache]
    }

    var kernel: DoctorFinding {
        let lacks =
            (facts.hasMemoryFiles ? [] : ["files in memory (memfd)"])
            + (facts.hasProcessReferences ? [] : ["references to processes (pidfd)"])
        guard lacks.isEmpty else {
            return .missing(
                "kernel",
                "Linux \(facts.release) has no \(lacks.joined(separator: ", no ")): serve "
                    + "cannot start", mend: "run a kernel of 5.4 or newer: uname -r")
        }
        return .ok("kernel", "Linux \(facts.release), with memfd and pidfd")
    }

    var landlock: DoctorFinding {
        guard let version = facts.landlock else {
            return .short(
                "landlock",
                "there is none: a decoder that was broken into may open the files of "
                    + "its user",
                mend: "boot with lsm=landlock,…: cat /sys/kernel/security/lsm; in a container, let "
                    + "its engine allow landlock_create_ruleset")
        }
        guard version >= 4 else {
            return .ok("landlock", "version \(version): files are closed to decoders")
        }
        return .ok("landlock", "version \(version): files and TCP are closed to decoders")
    }

    var filters: DoctorFinding {
        guard facts.hasFilters else {
            return .short(
                "seccomp",
                "system calls cannot be filtered: a decoder that was broken into may "
                    + "make any", mend: "run a kernel with CONFIG_SECCOMP_FILTER=y")
        }
        return .ok("seccomp", "system calls of decoders are filtered")
    }

    var descriptors: DoctorFinding {
        let number = facts.descriptors == .max ? "without limit" : "\(facts.descriptors)"
        guard facts.descriptors < Self.descriptors else {
            return .ok("descriptors", "\(number) for a process (RLIMIT_NOFILE)")
        }
        let mend = "ulimit -Hn \(Self.descriptors), or LimitNOFILE=\(Self.descriptors) of a unit"
        guard facts.descriptors >= Self.descriptorsMin else {
            return .missing(
                "descriptors",
                "\(number) for a process (RLIMIT_NOFILE): the coordinator ends when "
                    + "there is none left", mend: mend)
        }
        return .short(
            "descriptors",
            "\(number) for a process (RLIMIT_NOFILE): so many clients and "
                + "connections together at most", mend: mend)
    }

    var memory: DoctorFinding {
        let limits = [facts.memory.limitBytes, facts.memory.totalBytes].compactMap { $0 }
        guard let bytes = limits.min() else {
            return .short(
                "memory", "nothing says how much there is",
                mend: "mount cgroup v2 at /sys/fs/cgroup")
        }
        let isGroup = facts.memory.limitBytes == bytes
        let wanted = Self.memoryBytes + Self.memoryBytesOfCore * facts.processors
        let says = "\(Self.text(bytes)) \(isGroup ? "for the control group" : "of the machine")"
        guard bytes < wanted else { return .ok("memory", says) }
        let mend =
            "serve --decode 1 --transform 1 --memory-limit 64M"
            + (isGroup ? ", or raise memory.max (docker run --memory, MemoryMax= of a unit)" : "")
        let reason =
            "\(says); \(facts.processors) decoders and as many transformers like "
            + "\(Self.text(wanted))"
        return bytes < Self.memoryBytesMin
            ? .missing("memory", "\(reason): they are killed", mend: mend)
            : .short("memory", "\(reason): large images are refused or wait", mend: mend)
    }

    var transfers: DoctorFinding {
        guard let first = facts.transferLimits.first else {
            return .ok("disk transfers", "no limit of the control group (io.max)")
        }
        return .short(
            "disk transfers",
            "the control group limits them, such as '\(first)': the disk tier "
                + "waits",
            mend: "raise io.max (IOReadBandwidthMax=, IOWriteBandwidthMax= of a unit)")
    }

    var runtime: DoctorFinding {
        let place = facts.runtime
        guard place.isWritable else {
            return .missing(
                "runtime directory",
                "\(place.path) cannot be made: \(place.nearest) is not "
                    + "this user's",
                mend: "imagebus serve --runtime-dir DIRECTORY of yours, on a tmpfs")
        }
        // Segments lie in /dev/shm where the directory is on a disk; the caller looked there.
        guard place.isTemporary else {
            return .missing(
                "runtime directory", "\(place.path) is on a disk, and there is no tmpfs",
                mend: "mount -t tmpfs -o size=2G tmpfs /dev/shm")
        }
        let says =
            "\(place.path): \(Self.text(place.availableBytes)) free of "
            + "\(Self.text(place.totalBytes)) of shared memory at \(place.nearest)"
        guard place.availableBytes < Self.sharedBytes else { return .ok("runtime directory", says) }
        let mend =
            "mount -o remount,size=2G FILESYSTEM (findmnt -T \(place.nearest) names it), or "
            + "docker run --shm-size 2g"
        let wanted = "\(says); a stack of two cores likes \(Self.text(Self.sharedBytes))"
        return place.availableBytes < Self.sharedBytesMin
            ? .missing("runtime directory", "\(wanted): photographs do not fit", mend: mend)
            : .short("runtime directory", "\(wanted): jobs wait for room", mend: mend)
    }

    var cache: DoctorFinding {
        guard let place = facts.cache else {
            // A stack that runs was told, and another one can be.
            return .short(
                "cache directory", "neither XDG_CACHE_HOME nor HOME says where it is",
                mend: "imagebus serve --cache-dir DIRECTORY")
        }
        guard place.isWritable else {
            return .missing(
                "cache directory",
                "\(place.path) cannot be written: \(place.nearest) is not this "
                    + "user's", mend: "imagebus serve --cache-dir DIRECTORY of yours, or chown it")
        }
        let limit = CacheSetting.usualDiskLimit(ofFileSystem: place.totalBytes)
        let says =
            "\(place.path): \(Self.text(place.availableBytes)) free; without --disk-limit the "
            + "disk tier takes \(Self.text(UInt64(limit))) at most"
        guard place.availableBytes < Self.cacheBytes else { return .ok("cache directory", says) }
        let mend = "imagebus cache trim, serve --disk-limit, or --cache-dir on a larger disk"
        return place.availableBytes < Self.cacheBytesMin
            ? .missing("cache directory", "\(says): the disk tier keeps nothing", mend: mend)
            : .short("cache directory", "\(says): the disk tier is small", mend: mend)
    }

    private static func text(_ bytes: Int) -> String { ByteText.text(UInt64(max(0, bytes))) }
    private static func text(_ bytes: UInt64) -> String { ByteText.text(bytes) }
}
