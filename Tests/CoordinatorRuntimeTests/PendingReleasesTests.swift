import Model
import Testing

@testable import Coordinator

/// Releases that are held until the next message to their worker.
@Suite struct PendingReleasesTests {
    private let one = WorkerID(1)
    private let other = WorkerID(2)

    @Test func theyAreTakenOnceAndByTheirWorkerOnly() {
        var releases = PendingReleases()
        #expect(releases.removeAll(of: one) == nil)
        #expect(releases.add([BlockID(5)], of: one) == false)
        #expect(releases.add([BlockID(6), BlockID(7)], of: one) == false)
        #expect(releases.add([BlockID(5)], of: other) == false)
        #expect(releases.workers == [one, other])
        #expect(releases.removeAll(of: one) == [BlockID(5), BlockID(6), BlockID(7)])
        #expect(releases.removeAll(of: one) == nil)
        #expect(releases.removeAll(of: other) == [BlockID(5)])
        #expect(releases.isEmpty)
    }

    @Test func aWorkerIsToldOfManyAtOnce() {
        var releases = PendingReleases()
        for number in 1..<PendingReleases.blocksMax {
            #expect(releases.add([BlockID(UInt64(number))], of: one) == false)
        }
        #expect(releases.add([BlockID(1)], of: other) == false, "each worker is counted apart")
        #expect(releases.add([BlockID(99)], of: one) == true)
    }
}
