import FuzzTargets
import TestKit
import Testing

/// Runs every input of the committed corpus and many mutations of them, so that bugs found by
/// `scripts/fuzz` stay fixed.
@Suite struct CorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func everyInputOfTheCorpusHolds(target: FuzzTarget) throws {
        let corpus = try Corpus(of: target)
        #expect(corpus.inputs.count >= 10, "the corpus of \(target.rawValue) exists")
        for input in corpus.inputs { expect(input.bytes, hold: target, input.path) }
    }

    /// The same mutations on every machine and in every run; fewer if each simulates the whole
    /// lifetime of a stack.
    @Test(arguments: FuzzTarget.allCases)
    func whatIsNearlyTheSameHolds(target: FuzzTarget) throws {
        let inputs = try Corpus(of: target).inputs.map(\.bytes)
        for seed in 0..<(target == .scheduler ? 200 : 1_000) {
            var mutator = Mutator(seed: UInt64(seed))
            expect(mutator.mutation(of: inputs), hold: target, "seed \(seed)")
        }
    }

    private func expect(_ bytes: [UInt8], hold target: FuzzTarget, _ name: String) {
        do throws(BrokenInvariant) {
            try target.run(bytes)
        } catch {
            Issue.record("\(name): it does not hold that \(error.what): \(bytes)")
        }
    }
}
