import Model
import Testing

@testable import ProcessRuntime

@Suite struct RunningJobsTests {
    @Test func aJobIsFoundByBothNamesUntilItsEnd() {
        var jobs = RunningJobs()
        let own = jobs.begin(JobID(40))
        #expect(jobs.own(JobID(40)) == own && jobs.job(own) == JobID(40))
        #expect(!jobs.isEmpty)
        #expect(jobs.end(own) == JobID(40))
        #expect(jobs.isEmpty && jobs.own(JobID(40)) == nil && jobs.job(own) == nil)
        #expect(jobs.end(own) == nil)
    }

    /// The next coordinator counts from 1 again.
    @Test func anAbandonedJobNeverPassesForOneOfTheSameName() {
        var jobs = RunningJobs()
        let old = jobs.begin(JobID(1))
        #expect(!jobs.hasAbandoned)
        jobs.abandonAll()
        #expect(jobs.hasAbandoned)
        #expect(jobs.own(JobID(1)) == nil && !jobs.isEmpty, "it still runs")
        let new = jobs.begin(JobID(1))
        #expect(old != new)
        #expect(jobs.job(old) == nil && jobs.end(old) == nil)
        #expect(!jobs.hasAbandoned)
        #expect(jobs.own(JobID(1)) == new && jobs.end(new) == JobID(1))
        #expect(jobs.isEmpty)
    }
}
