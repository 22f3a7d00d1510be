import Model
import Testing

@testable import Coordinator

/// For which caches memory answers under each query policy, and which ones the cache process is
/// queried for (SEMANTICS §5.16).
@Suite struct CompositePolicyTests {
    private static let url = "http://example.org/a.jpg"
    private static let members = ["low", "middle", "high"]
    private let client: ClientID
    private var stack: Stack

    init() { (stack, client) = Stack.staffed() }

    private static func text(_ cache: String) -> String { "\(cache)\u{1F}\(url)" }

    private mutating func stand(by policy: CompositePolicy) {
        stack.send(
            .caches(
                CacheLayout(["all": CompositeCache(of: Self.members, policies: [.query: policy])])))
    }

    private func terms() -> LoadTerms {
        var terms = LoadTerms()
        (terms.cache, terms.originalCache) = ("all", "all")
        return terms
    }

    private func query() -> QueryWork? {
        guard case .query(let work)? = stack.held(.query).first?.job.work else { return nil }
        return work
    }

    /// The query to the cache process on a memory miss.
    @Test(arguments: [
        (CompositePolicy.serial, ["high", "middle", "low"], false),
        (.concurrent, ["high", "middle", "low"], true), (.highestOnly, ["high"], false),
        (.lowestOnly, ["low"], false),
    ]) mutating func aLookUpIsOfTheCachesOfItsPolicy(
        policy: CompositePolicy, caches: [String], memoryFirst: Bool
    ) throws {
        stand(by: policy)
        stack.load(.image(), by: client, terms: terms())
        let work = try #require(query())
        #expect(work.key == Self.text(caches[0]) && work.caches == Array(caches.dropFirst()))
        #expect(work.memoryFirst == memoryFirst)
    }

    /// The answering cache for each policy and every set of caches that have an image in memory.
    /// `nil`: the cache process is queried.
    private static func answering(_ policy: CompositePolicy, _ present: Set<String>) -> String? {
        switch policy {
        case .serial, .highestOnly: present.contains("high") ? "high" : nil
        case .lowestOnly: present.contains("low") ? "low" : nil
        case .concurrent: members.last { present.contains($0) }
        }
    }

    @Test(arguments: CompositePolicy.allCases, 0..<8)
    mutating func memoryAnswersForTheCachesOfItsPolicy(
        policy: CompositePolicy, set: Int
    ) throws {
        stand(by: policy)
        var blocks: [String: BlockID] = [:]
        for (index, name) in Self.members.enumerated() where set >> index & 1 == 1 {
            blocks[name] = stack.publish(Self.text(name)).block
        }
        let answering = Self.answering(policy, Set(blocks.keys))
        let token = stack.load(.image(), by: client, terms: terms())
        #expect(stack.image(token)?.reference?.block == answering.flatMap { blocks[$0] })
        #expect((query() == nil) == (answering != nil))
        // A ticket is granted only if its image remains the answer as long as it is present.
        let load = LoadRequest(token: Token(Identifier128(high: 5, low: 5)), image: .image())
        let ticket = stack.scheduler.hitTicket(for: load, terms())
        let lasts = answering != nil && (policy != .concurrent || answering == "high")
        #expect((ticket != nil) == lasts)
    }

    /// Entries known to be in memory are selected by the current policy.
    @Test mutating func anotherPolicyAnswersFromOtherCaches() {
        for name in ["low", "high"] { stack.publish(Self.text(name)) }
        let answers = [CompositePolicy.highestOnly, .lowestOnly, .serial, .lowestOnly].map {
            stand(by: $0)
            let token = stack.load(.image(), by: client, terms: terms())
            return stack.image(token)?.reference.flatMap { stack.publishedTexts[$0.block] }
        }
        #expect(answers == ["high", "low", "high", "low"].map(Self.text))
    }
}
