import CommandLineInterface
import Linux
import Model
import Reporting
import TestKit
import Testing

@testable import imagebus_cli

/// `doctor` on simulated machines.
@Suite struct DoctorTests {
    private func place(_ free: UInt64, isTemporary: Bool = true) -> DirectoryProperties {
        DirectoryProperties(
            path: "/run/a", nearest: "/run", isWritable: true, isTemporary: isTemporary,
            totalBytes: 8 << 30, availableBytes: free)
    }

    /// A machine without problems.
    private func properties(_ change: (inout MachineProperties) -> Void = { _ in })
        -> MachineProperties
    {
        let folder = TestKit.TemporaryDirectory()
        var properties = MachineProperties(
            runtime: "/", cache: nil, process: folder.path, groups: folder.path)
        properties.release = "6.9.0"
        (properties.processors, properties.landlock, properties.hasFilters) = (2, 5, true)
        (properties.hasMemoryFiles, properties.hasProcessReferences) = (true, true)
        properties.descriptors = 1 << 20
        properties.memory.totalBytes = 16 << 30
        (properties.runtime, properties.cache) = (
            place(4 << 30), place(50 << 30, isTemporary: false)
        )
        properties.sharedMemory = place(0, isTemporary: false)
        change(&properties)
        return properties
    }

    private func report(_ properties: MachineProperties) -> DoctorReport {
        DoctorReport(DoctorSubject(machine: MachineChecks(properties)))
    }

    @Test func aMachineThatHasAllLacksNothing() {
        let report = report(properties())
        #expect(report.findings.allSatisfy { $0.result.state == .ok && $0.result.hint == nil })
        #expect(report.findings.count == 8)
        #expect(report.exitStatus == 0)
        #expect(report.text(colored: false).hasSuffix("\nall checks passed\n"))
    }

    @Test func theLimitOfTheDiskTierIsSaid() {
        let report = report(properties())
        let cache = report.findings.first { $0.check.name == "cache directory" }
        #expect(
            cache?.result.says.hasSuffix("the disk tier uses at most 819.2 MB") == true,
            "\(report)")
    }

    private static let faults:
        [(String, DoctorResult.State, @Sendable (inout MachineProperties) -> Void)] = [
            ("kernel", .missing, { $0.hasMemoryFiles = false }),
            ("kernel", .missing, { $0.hasProcessReferences = false }),
            ("landlock", .short, { $0.landlock = nil }),
            ("seccomp", .short, { $0.hasFilters = false }),
            ("descriptors", .short, { $0.descriptors = 4_096 }),
            ("descriptors", .missing, { $0.descriptors = 256 }),
            ("memory", .short, { $0.memory.limitBytes = 1 << 30 }),
            ("memory", .missing, { $0.memory.limitBytes = 128 << 20 }),
            ("memory", .short, { $0.processors = 64 }),
            ("disk transfers", .short, { $0.transferLimits = ["8:0 rbps=1048576"] }),
            ("runtime directory", .short, { $0.runtime.availableBytes = 256 << 20 }),
            ("runtime directory", .missing, { $0.runtime.availableBytes = 16 << 20 }),
            ("runtime directory", .missing, { $0.runtime.isTemporary = false }),
            ("runtime directory", .missing, { $0.runtime.isWritable = false }),
            ("cache directory", .short, { $0.cache = nil }),
            ("cache directory", .missing, { $0.cache?.isWritable = false }),
            ("cache directory", .short, { $0.cache?.availableBytes = 500 << 20 }),
            ("cache directory", .missing, { $0.cache?.availableBytes = 0 }),
        ]

    @Test(arguments: faults.indices) func whatIsWrongIsNamedWithWhatToDo(_ index: Int) {
        let (name, state, change) = Self.faults[index]
        let report = report(properties(change))
        let bad = report.findings.filter { $0.result.state != .ok }
        #expect(bad.map(\.check.name) == [name] && bad.first?.result.state == state, "\(bad)")
        let hint = bad.first?.result.hint ?? ""
        #expect(!hint.isEmpty, "\(bad)")
        #expect(report.exitStatus == (state == .missing ? 1 : 0))
        #expect(report.text(colored: false).contains("-> \(hint)\n"))
    }

    @Test func segmentsOfADirectoryOnADiskAreInSharedMemory() {
        let properties = properties {
            $0.runtime.isTemporary = false
            $0.sharedMemory.isTemporary = true
            $0.sharedMemory.availableBytes = 4 << 30
        }
        #expect(report(properties).findings.allSatisfy { $0.result.state == .ok })
    }

    @Test func theDirectoryOfTheRunningStackIsChecked() {
        let folder = TestKit.TemporaryDirectory()
        func says(_ words: [String]) -> DoctorResult {
            // Without a stack, this directory would be reported.
            var machine = MachineChecks(properties { $0.cache?.isWritable = false })
            machine.stackCache = StackCache(arguments: Array(words.joined(separator: "\0").utf8))
            return machine.cache
        }
        let program = "/usr/libexec/imagebus/imagebus-cache"
        #expect(says([program, "--cache-dir", folder.path]).says.hasPrefix("\(folder.path): "))
        #expect(says([program]) == .ok("none: the stack caches in memory only"))
        #expect(says([program, "--cache-dir"]) == .ok("none: the stack caches in memory only"))
        #expect(says(["/bin/sh", "--cache-dir", folder.path]).state == .missing)
        #expect(says([]).state == .missing)
    }

    @Test func theDiskTierIsDescribed() {
        var cache = CacheStatus()
        #expect(DoctorStack.diskTier(cache) == .ok("none: the stack caches in memory only"))
        cache.disk = .healthy
        (cache.diskEntries, cache.diskBytes, cache.diskBytesMax) = (3, 2_048, 4_096)
        #expect(DoctorStack.diskTier(cache) == .ok("healthy: 3 entries, 2.0 KB of 4.0 KB"))
        cache.disk = .degraded
        cache.diskReason = "full: no space"
        #expect(DoctorStack.diskTier(cache).state == .short)
        #expect(DoctorStack.diskTier(cache).says == "full: no space")
    }

    @Test func librariesAreNamedByTheirPackages() {
        let owners = """
            diversion by dash from: /bin/sh
            libvips42:amd64: /usr/lib/x86_64-linux-gnu/libvips.so.42.16.1
            zlib1g: /lib/x86_64-linux-gnu/libz.so.1.2.13

            """
        let packages = LibraryPackages.packages(of: owners)
        #expect(packages["libvips.so.42.16.1"] == "libvips42")
        #expect(packages["libz.so.1.2.13"] == "zlib1g")
        let abilities = ProgramAbilities("library vips 42.16.1\nlibrary own 1\n")
        let result = abilities.result(["vips 42.16.1": "libvips42 8.14.1-3"])
        #expect(result == .ok("libvips42 8.14.1-3, own 1"))
    }

    /// Files as the kernel writes them.
    @Test func aGroupWithLessThanItsProcessMayTakeIsShort() throws {
        let decode = DoctorStack.memory(of: .decode, limits: [3 << 30, 1 << 30])
        #expect(decode?.state == .short)
        #expect(decode?.hint?.contains("MemoryMax=2048M in its unit") == true)
        #expect(DoctorStack.memory(of: .transform, limits: [3 << 30])?.state == .ok)
        #expect(DoctorStack.memory(of: .cache, limits: [1 << 20]) == nil)
        #expect(DoctorStack.memory(of: .decode, limits: []) == nil)
    }

    /// For cgroup v2 and v1, which uses a number for "no limit".
    @Test func theLimitOfTheGroupOfAProcessIsRead() throws {
        let folder = TestKit.TemporaryDirectory()
        for name in ["1", "2", "3", "groups/a/b", "groups/memory/c/d"] {
            try Tool.run(["mkdir", "-p", folder.file(name)])
        }
        let files = [
            ("1/cgroup", "0::/a/b\n"), ("2/cgroup", "9:cpu:/x\n8:memory:/c/d\n0::/\n"),
            ("3/cgroup", "8:memory:/c\n"), ("groups/a/memory.max", "1073741824\n"),
            ("groups/a/b/memory.max", "max\n"),
            ("groups/memory/c/memory.limit_in_bytes", "9223372036854771712\n"),
            ("groups/memory/c/d/memory.limit_in_bytes", "2048\n"),
        ]
        for (name, text) in files { folder.write(Array(text.utf8), to: name) }
        let limits = [1, 2, 3, 4].map {
            MemorySupply.groupLimit(
                of: $0, groups: folder.file("groups"), processes: folder.path)
        }
        #expect(limits == [1 << 30, 2_048, nil, nil])
    }

    @Test func factsAreReadFromTheKernelsFiles() throws {
        let folder = TestKit.TemporaryDirectory()
        for name in ["sys/kernel/seccomp", "self", "groups/user/me"] {
            try Tool.run(["mkdir", "-p", folder.file(name)])
        }
        let files = [
            ("sys/kernel/osrelease", "5.15.0-99-generic\n"),
            ("sys/kernel/seccomp/actions_avail", "kill_process kill_thread trap errno log allow\n"),
            ("self/cgroup", "0::/user/me\n"), ("meminfo", "MemTotal: 2097152 kB\n"),
            ("groups/user/io.max", "8:16 rbps=2097152 wiops=120\n"),
            ("groups/user/me/io.max", ""), ("groups/user/memory.max", "536870912\n"),
            ("groups/user/me/memory.max", "max\n"),
        ]
        for (name, text) in files { folder.write(Array(text.utf8), to: name) }
        let properties = MachineProperties(
            runtime: folder.file("none/below"), cache: nil, process: folder.path,
            groups: folder.file("groups"))
        #expect(properties.release == "5.15.0-99-generic" && properties.hasFilters)
        #expect(
            properties.memory.limitBytes == 512 << 20 && properties.memory.totalBytes == 2 << 30)
        #expect(properties.transferLimits == ["8:16 rbps=2097152 wiops=120"])
        #expect(properties.runtime.nearest == folder.path && properties.runtime.isWritable)
        #expect(properties.runtime.totalBytes > 0)
    }

    @Test func whatAProgramSaysIsRead() {
        let text = """
            reads jpeg
            reads png
            library vips 42.16.1
            library webp 7.1.5

            """
        let found = ProgramAbilities(text).result([:])
        #expect(found == .ok("reads jpeg, png; vips 42.16.1, webp 7.1.5"))
        let lacking = ProgramAbilities(text + "lacks heic: no libheif\n").result([:])
        #expect(lacking.state == .short && lacking.says.hasSuffix("; heic: no libheif"))
        let hint = "apt-get install libvips42 libheif1; scripts/setup installs all libraries"
        #expect(lacking.hint == hint)
        #expect(ProgramAbilities("").result([:]) == .ok("starts"))
    }

    @Test func theStageThatDidNotAnswerIsNamed() {
        let good = StackCanary.Step(stage: .coordinator, milliseconds: 3, error: nil)
        let bad = StackCanary.Step(
            stage: .decode, milliseconds: 2_000,
            error: ImageError(.deadlineExceeded, "no answer within 2000 ms"))
        let full = StackCanary.Step(
            stage: .transform, milliseconds: 2, error: ImageError(.busy, "the queue is full"))
        #expect(HealthCommand.complaint([good]) == nil)
        #expect(HealthCommand.complaint([good, full]) == nil)
        #expect(
            HealthCommand.complaint([good, bad])?.hasPrefix("decode failed (after") == true)
        #expect(DoctorStack.canary([good])?.state == .ok)
        #expect(
            DoctorStack.canary([good, bad])?.hint?.contains("imagebus drain decode") == true)
        #expect(DoctorStack.canary([]) == nil)
    }

    private func finding(_ name: String, _ result: DoctorResult) -> DoctorReport.Finding {
        .init(check: DoctorCheck(name, "what it is") { _ in result }, result: result)
    }

    @Test func aFindingIsOneObject() throws {
        let report = DoctorReport([finding("kernel", .missing("old", hint: "new"))])
        #expect(
            try JSONText.text(report.object) == """
                {"findings":[{"checks":"what it is","mend":"new","name":"kernel","says":"old",\
                "state":"missing"}]}

                """)
        let names = DoctorCheck.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(DoctorCheck.all.allSatisfy { !$0.purpose.isEmpty })
    }

    @Test func colorsStandAroundStatesAlone() {
        let report = DoctorReport([
            finding("kernel", .ok("Linux")), finding("landlock", .short("none", hint: "lsm")),
            finding("cache", .missing("gone\u{1B}[2J", hint: "mkdir")),
        ])
        let text = report.text(colored: true)
        #expect(text.contains("\u{1B}[32mok       \u{1B}[0mkernel    Linux\n"))
        #expect(text.contains("\u{1B}[33mshort    \u{1B}[0mlandlock  none\n"))
        #expect(!text.contains("\u{1B}[2J"), "untrusted text has no escapes")
        #expect(!report.text(colored: false).contains("\u{1B}"))
    }

    @Test func longLinesAreBrokenBelowTheirBegin() {
        let words = Array(repeating: "word", count: 40).joined(separator: " ")
        let report = DoctorReport([finding("memory", .short(words, hint: words))])
        let lines = report.text(colored: false, columns: 60).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 60 } && lines.count > 8, "\(lines)")
        #expect(lines[1].hasPrefix("                 word"), "\(lines)")
        #expect(report.text(colored: false).split(separator: "\n").count == 3)
    }
}

/// The canary options of `health`.
@Suite struct CanaryOptionsTests: OptionTests {
    typealias Options = HealthOptions

    @Test func aCanaryHasATime() throws {
        #expect(try options([]).canaryMilliseconds == nil)
        #expect(try options(["--canary"]).canaryMilliseconds == 5_000)
        #expect(try options(["--canary", "--within", "250ms"]).canaryMilliseconds == 250)
    }

    @Test(arguments: [
        ["--within", "2s"], ["--canary", "--only", "decode"], ["--canary", "--within", "2h"],
    ])
    func whatMakesNoSenseIsRefused(_ words: [String]) {
        #expect(throws: UsageError.self) { try options(words) }
    }
}
