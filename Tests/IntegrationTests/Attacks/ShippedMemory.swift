/// Limits the processes of a stack to the memory that their units give them (`systemd/*.service`):
/// each in its own cgroup, and processes started later together in the cgroup of one decoder.
final class ShippedMemory {
    private let groups: [MemoryGroup]

    /// Confines a running stack, and a gateway in front of it. Does nothing on a machine where
    /// cgroups can't be created; the output of the test reports that.
    init(_ stack: StackHarness, _ gateway: GatewayProcess? = nil) throws {
        guard MemoryGroup.isPossible else {
            print("- The limits of the units are not tested: no control group can be made here")
            groups = []
            return
        }
        var groups: [MemoryGroup] = []
        func confine(_ process: ObservedProcess, as kind: String) throws {
            let group = try MemoryGroup(bytes: Self.bytes(of: kind))
            try group.add(process)
            groups.append(group)
        }
        for kind in ["coordinator", "download", "cache", "decode", "transform"] {
            for process in stack.processes(kind) { try confine(process, as: kind) }
        }
        if let gateway { try confine(ObservedProcess(gateway.processID), as: "gateway") }
        try confine(ObservedProcess(stack.processID), as: "decode")
        self.groups = groups
    }

    /// The memory limit in the unit for one process of a kind.
    static func bytes(of kind: String) throws -> UInt64 {
        let isOneOfMany = ["decode", "download", "transform"].contains(kind)
        let name = "systemd/imagebus-\(kind)\(isOneOfMany ? "@" : "").service"
        let unit = try #require(FileBytes.text(RepositoryRoot.file(name)))
        let limit = try #require(unit.firstMatch(of: /\nMemoryMax=([0-9]+)([MG])\n/))
        let number = try #require(UInt64(limit.output.1))
        return number << (limit.output.2 == "G" ? 30 : 20)
    }

    /// Expects that none of them was killed by the OOM killer.
    func expectNoKills(sourceLocation: SourceLocation = #_sourceLocation) {
        let kills = groups.reduce(0) { $0 + $1.kills }
        #expect(kills == 0, sourceLocation: sourceLocation)
    }
}
