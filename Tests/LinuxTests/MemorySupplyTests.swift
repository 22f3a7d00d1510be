import Linux
import TestKit
import Testing

/// The kernel's memory statistics, read from files in the kernel's format.
@Suite struct MemorySupplyTests {
    private let place = TestKit.TemporaryDirectory()

    private func write(_ path: String, _ text: String) throws {
        var folder = place.path
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            try? FileDescriptor.makeDirectory(path: folder)
        }
        try FileDescriptor.open("\(place.path)/\(path)", [.create, .writeOnly])
            .writeAll(Array(text.utf8))
    }

    private func supply() -> MemorySupply {
        .now(groups: place.path + "/groups", process: place.path + "/proc")
    }

    @Test func theLeastLimitOfTheGroupAndOfThoseAboveItCounts() throws {
        try write("proc/self/cgroup", "12:memory:/old\n0::/a.slice/b\n")
        try write("groups/a.slice/b/memory.max", "max\n")
        try write("groups/a.slice/b/memory.high", "900000000\n")
        try write("groups/a.slice/memory.max", "800000000\n")
        try write("groups/a.slice/b/memory.current", "500000000\n")
        try write("groups/a.slice/b/memory.stat", "anon 1\nfile 2\ninactive_file 100000000\n")
        try write(
            "groups/a.slice/b/memory.pressure",
            "some avg10=12.50 avg60=1.00 avg300=0.00 total=7\nfull avg10=3.00 avg60=0 total=1\n")
        try write("proc/meminfo", "MemTotal:  16000 kB\nMemFree: 1 kB\nMemAvailable:  8000 kB\n")
        let supply = supply()
        #expect(supply.limitBytes == 800_000_000)
        #expect(supply.usedBytes == 400_000_000, "files can be dropped")
        #expect(supply.stallPercent == 12.5)
        #expect(supply.totalBytes == 16_000 << 10 && supply.availableBytes == 8_000 << 10)
    }

    /// In a container, the group is the root of the mount.
    @Test func theRootIsAGroup() throws {
        try write("proc/self/cgroup", "0::/\n")
        try write("groups/memory.max", "536870912\n")
        #expect(supply().limitBytes == 512 << 20)
    }

    @Test func whatIsNotThereIsNotSaid() throws {
        #expect(supply() == MemorySupply())
        try write("proc/self/cgroup", "0::/x\n")
        try write("groups/x/memory.max", "max\n")
        try write("groups/x/memory.pressure", "nonsense\n")
        #expect(supply() == MemorySupply())
    }

    @Test func thisMachineSaysHowMuchItHas() throws {
        let supply = MemorySupply.now()
        let total = try #require(supply.totalBytes)
        let available = try #require(supply.availableBytes)
        #expect(available <= total && total > 64 << 20)
    }
}
