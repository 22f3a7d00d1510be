import Linux
import Messages
import Reporting

/// Whether the control groups of decoders and transformers have room for the memory that these
/// take: else the kernel kills one before its own limit has an image refused.
struct GroupFindings {
    /// Bytes that the group of one process may use.
    struct Group {
        let kind: WorkerKind
        let limitBytes: Int
    }

    let groups: [Group]

    init(_ groups: [Group]) { self.groups = groups }

    /// Those of the processes of a stack that are seen from here.
    init(_ report: StatusReport) {
        groups = report.processes.compactMap { process in
            guard let number = ProcessID(exactly: process.pid), number > 0,
                let limit = MemorySupply.groupLimit(of: number)
            else { return nil }
            return Group(kind: process.kind, limitBytes: limit)
        }
    }

    /// One for each kind with a limit.
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
            "\(says), and the process may take \(ByteText.text(wanted)): large images have the "
                + "kernel kill it",
            mend: "MemoryMax=\(wanted >> 20)M of its unit, "
                + "IMAGEBUS_\(kind.name.uppercased())_MEMORY=\(wanted >> 20)m of "
                + "docker/compose.yaml, or a lower --pixel-limit")
    }
}
