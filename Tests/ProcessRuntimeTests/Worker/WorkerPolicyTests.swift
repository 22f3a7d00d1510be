import Model
import Testing

@testable import ProcessRuntime

@Suite struct WorkerPolicyTests {
    private func policy(_ words: String...) throws -> WorkerPolicy {
        try WorkerPolicy(ProgramArguments(words, valued: WorkerPolicy.valued), for: .decode)
    }

    @Test func withoutArgumentsTheDefaultsHold() throws {
        #expect(try policy() == WorkerPolicy())
    }

    @Test func enoughJobsAreEnough() throws {
        let policy = try policy("--recycle-jobs", "3")
        #expect(!policy.isSpent(jobs: 2, privateBytes: nil))
        #expect(policy.isSpent(jobs: 3, privateBytes: nil))
        #expect(policy.privateBytesMax == WorkerPolicy().privateBytesMax)
    }

    @Test func enoughMemoryIsEnough() throws {
        let policy = try policy("--recycle-bytes", "1000")
        #expect(!policy.isSpent(jobs: 64, privateBytes: 1_000))
        #expect(policy.isSpent(jobs: 64, privateBytes: 1_001))
        #expect(!policy.isSpent(jobs: 64, privateBytes: nil), "no measurement yet")
        #expect(policy.jobsMax == WorkerPolicy().jobsMax)
    }

    @Test func memoryIsLookedAtNowAndThen() {
        let looked = (1...200).filter { WorkerPolicy().looksAtMemory(after: $0) }
        #expect(looked == [1, 64, 128, 192])
    }

    @Test func onlyWorkThatUsedTheProcessorsForLongHangs() {
        let policy = WorkerPolicy()
        #expect(!policy.hangs(after: 0))
        #expect(!policy.hangs(after: 19_999_999_999))
        #expect(policy.hangs(after: 20_000_000_000))
    }

    @Test func aDrawingHasFiveSecondsOfTheProcessors() throws {
        let arguments = try ProgramArguments([], valued: WorkerPolicy.valued)
        let policy = try WorkerPolicy(arguments, for: .decode, in: .vector)
        #expect(policy.stopsHangs && policy.hangs(after: 5_000_000_000))
        #expect(!policy.hangs(after: 4_999_999_999))
        let other = try WorkerPolicy(arguments, for: .decode, in: PoolName(.decode))
        #expect(!other.stopsHangs && !other.hangs(after: 5_000_000_000))
    }

    @Test func anArgumentWithAFormerNameIsTheCurrentOne() throws {
        let arguments = try ProgramArguments(
            ["--recycle-after", "3"], valued: WorkerPolicy.valued,
            formerNames: ["recycle-after": "recycle-jobs"])
        #expect(try WorkerPolicy(arguments, for: .decode).jobsMax == 3)
    }

    @Test(arguments: ["-1", "many", ""])
    func whatIsNoNumberIsRefused(_ text: String) {
        #expect(throws: ProgramArgumentsError.notANumber("recycle-jobs", text)) {
            try policy("--recycle-jobs", text)
        }
    }

    @Test func theCacheIsNotReplacedForHavingWorked() throws {
        let arguments = try ProgramArguments([], valued: WorkerPolicy.valued)
        let policy = try WorkerPolicy(arguments, for: .cache)
        #expect(!policy.isSpent(jobs: 10_000_000, privateBytes: nil))
        #expect(policy.isSpent(jobs: 1, privateBytes: 2 << 30))
    }
}
