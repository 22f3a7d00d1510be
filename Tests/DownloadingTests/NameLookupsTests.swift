import Model
import Testing

@testable import Downloading

/// Which names are resolved while unresponsive name servers occupy threads.
@Suite struct NameLookupsTests {
    private func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 1_000_000_000).adding(milliseconds: milliseconds)
    }

    private func silent() -> NameLookups {
        var lookups = NameLookups()
        for number in 0..<NameLookups.leftBehindMax {
            lookups.leftBehind("n\(number).silent.test", at: at(0))
        }
        return lookups
    }

    @Test func allAreWithFewThreads() {
        let permitted = silent().permits(
            "more.silent.test", threads: NameLookups.threadsFew, at: at(1))
        #expect(permitted)
    }

    @Test func aSilentDomainIsNotWithMore() {
        let lookups = silent()
        let threads = NameLookups.threadsFew + 1
        #expect(!lookups.permits("More.SILENT.test", threads: threads, at: at(1)))
        #expect(lookups.permits("other.test", threads: threads, at: at(1)))
        let later = at(NameLookups.rememberedMilliseconds)
        #expect(lookups.permits("more.silent.test", threads: threads, at: later))
    }

    @Test func onlyDomainsThatAnsweredAreWithMost() {
        var lookups = silent()
        let threads = NameLookups.threadsMany + 1
        #expect(!lookups.permits("www.other.test", threads: threads, at: at(1)))
        lookups.found("img.other.test")
        lookups.found("www.silent.test")
        #expect(lookups.permits("www.other.test", threads: threads, at: at(1)))
        #expect(!lookups.permits("www.silent.test", threads: threads, at: at(1)))
    }

    @Test func memoryIsBounded() {
        var lookups = silent()
        for number in 0..<3 * NameLookups.domainsMax {
            lookups.leftBehind("a.\(number)", at: at(0))
            lookups.found("b.\(number)")
        }
        #expect(lookups.permits("b.\(3 * NameLookups.domainsMax - 1)", threads: 9_999, at: at(1)))
        #expect(!lookups.permits("b.0", threads: 9_999, at: at(1)))
    }
}
