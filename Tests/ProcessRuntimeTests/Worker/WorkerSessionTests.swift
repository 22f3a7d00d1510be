import Model
import Testing

@testable import ProcessRuntime

private let welcome = WorkerCommand.welcome(
    WorkerWelcome(epoch: Epoch(Identifier128(high: 1, low: 1))))

private func job(_ number: UInt64) -> Job {
    let work = JobWork.fetch(FetchWork(url: "http://a.test/", headers: [], bodyBytesMax: 1))
    return Job(
        id: JobID(number), attempt: 1, work: work, millisecondsLeft: 1_000, priority: .normal)
}

private func outcome(_ number: UInt64) -> JobOutcome {
    JobOutcome(id: JobID(number), attempt: 1, result: .miss, workMicroseconds: 1)
}

private func ready(holding jobs: UInt64...) -> WorkerSession {
    var session = WorkerSession()
    _ = session.linkUp()
    _ = session.received(welcome)
    for number in jobs { _ = session.received(.job(job(number))) }
    return session
}

@Suite struct WorkerSessionTests {
    @Test func helloComesFirstThenAnnouncementsThenJobs() {
        var session = WorkerSession()
        #expect(session.received(.job(job(1))) == [], "there is no session")
        #expect(session.linkUp() == [.sendHello])
        #expect(session.received(.job(job(1))) == [], "the coordinator has not welcomed us")
        #expect(session.received(welcome) == [.announceEverything, .notifyReady])
        #expect(session.received(.job(job(1))) == [.start(job(1))])
        #expect(session.finished(outcome(1)) == [.sendOutcome(outcome(1))])
    }

    @Test func whatIsReleasedWithAJobIsFreeBeforeItBegins() {
        var session = ready()
        var next = job(1)
        next.released = [BlockID(7), BlockID(8)]
        let actions = session.received(.job(next))
        #expect(actions == [.release([BlockID(7), BlockID(8)]), .start(next)])
    }

    @Test func whoCannotLeaveInTimeEndsWithWhatItHolds() {
        var session = ready()
        #expect(session.tookTooLong() == [], "it wasn't told to leave")
        _ = session.received(.job(job(1)))
        #expect(session.received(.drain) == [.sendGoodbye(.drained)])
        #expect(session.tookTooLong() == [.end(.drained)])
        #expect(session.finished(outcome(1)) == [.discard(outcome(1))])
    }

    @Test func aLostConnectionAbandonsWhatIsHeldAndItsOutcomesAreDiscarded() {
        var session = ready(holding: 1)
        #expect(session.linkDown() == [.abandonEverything])
        #expect(session.finished(outcome(1)) == [.discard(outcome(1))])
        #expect(session.linkUp() == [.sendHello])
        #expect(session.received(welcome).first == .announceEverything)
    }

    @Test func whoIsNotLetInSaysWhyAndEndsAndWhoFindsNoPlaceTriesAgain() {
        var session = WorkerSession()
        _ = session.linkUp()
        #expect(session.received(.refused(ImageError(.busy, "no place"))) == [])
        #expect(session.ticked() == [.sendHello])
        let error = ImageError(.addressForbidden, "not here")
        #expect(session.received(.refused(error)) == [.giveUp(error)])
        #expect(session.ticked() == [])
        #expect(session.linkUp() == [])
    }

    @Test func aStrangeCoordinatorIsIntroducedToAgain() {
        var session = ready(holding: 1)
        #expect(session.received(.helloRequired) == [.abandonEverything, .sendHello])
        #expect(session.finished(outcome(1)) == [.discard(outcome(1))])
    }

    @Test func aHelloWithoutAnAnswerIsSaidAgain() {
        var session = WorkerSession()
        #expect(session.ticked() == [])
        _ = session.linkUp()
        #expect(session.ticked() == [.sendHello])
        _ = session.received(welcome)
        #expect(session.ticked() == [])
    }

    @Test func onlyAHeldJobIsCancelled() {
        var session = ready(holding: 1)
        #expect(session.received(.cancelJob(JobID(1))) == [.cancel(JobID(1))])
        _ = session.finished(outcome(1))
        #expect(session.received(.cancelJob(JobID(1))) == [], "it has been answered")
    }

    @Test func theSameJobIsStartedOnce() {
        var session = ready()
        #expect(session.received(.job(job(1))) == [.start(job(1))])
        #expect(session.received(.job(job(1))) == [])
        #expect(session.onlyJob?.job == JobID(1))
    }

    @Test func drainingEndsAfterTheLastOutcomeAndTheFlush() {
        var session = ready(holding: 1)
        #expect(session.received(.drain) == [.sendGoodbye(.drained)])
        #expect(session.finished(outcome(1)) == [.sendOutcome(outcome(1)), .flush])
        #expect(session.flushed() == [.end(.drained)])
        #expect(session.linkUp() == [])
    }

    @Test func anIdleWorkerDrainsAtOnce() {
        var session = ready()
        #expect(session.received(.drain) == [.sendGoodbye(.drained), .flush])
    }

    @Test func theSecondSignalEndsNow() {
        var session = ready(holding: 1)
        #expect(session.terminated() == [.sendGoodbye(.terminated)])
        #expect(session.terminated() == [.sendGoodbye(.terminated), .end(.terminated)])
        #expect(session.terminated() == [])
    }

    @Test func recyclingLeavesInOrder() {
        var session = ready()
        #expect(session.recycle() == [.sendGoodbye(.recycled), .flush])
        #expect(session.flushed() == [.end(.recycled)])
    }

    @Test func nativeCodeThatHeedsNothingEndsTheProcess() {
        var session = ready(holding: 1)
        #expect(
            session.gaveUpOnNativeCode() == [.sendGoodbye(.cancelledHard), .end(.cancelledHard)])
        #expect(session.finished(outcome(1)) == [.discard(outcome(1))])
    }

    /// The coordinator sent it before it read the goodbye.
    @Test func aJobThatCrossedTheGoodbyeIsStillDone() {
        var session = ready()
        _ = session.recycle()
        #expect(session.received(.job(job(2))) == [.start(job(2))])
        #expect(session.flushed() == [], "not before its outcome")
        #expect(session.finished(outcome(2)) == [.sendOutcome(outcome(2)), .flush])
        #expect(session.flushed() == [.end(.recycled)])
    }

    @Test func anAdjustmentReachesTheJobThatIsHeld() {
        var session = ready()
        let longer = JobAdjustment(id: JobID(1), millisecondsLeft: 5_000, priority: .high)
        #expect(session.received(.adjust(longer)) == [], "it is not held")
        _ = session.received(.job(job(1)))
        #expect(session.received(.adjust(longer)) == [.adjust(longer)])
    }

    @Test func aCrashIsEvidenceAgainstTheOnlyJob() {
        var session = ready()
        #expect(session.onlyJob == nil)
        _ = session.received(.job(job(1)))
        #expect(session.onlyJob?.job == JobID(1) && session.onlyJob?.attempt == 1)
        _ = session.received(.job(job(2)))
        #expect(session.onlyJob == nil, "one of two")
        _ = session.finished(outcome(1))
        #expect(session.onlyJob?.job == JobID(2))
    }

    /// Two hellos on one connection: the coordinator has reassigned the jobs of the first session
    /// to the second one as new attempts, and this process has not noticed.
    @Test func aSecondWelcomeIsAnotherSession() {
        var session = ready(holding: 1)
        #expect(session.received(welcome) == [.abandonEverything, .announceEverything])
        #expect(session.attempt(of: JobID(1)) == nil)
        #expect(session.finished(outcome(1)) == [.discard(outcome(1))])
    }

    /// Each coordinator numbers its jobs from the start, so jobs of the next session may have the
    /// numbers of those that this process held.
    @Test func theNextSessionKnowsNoJobOfTheOneBefore() {
        let changes: [(inout WorkerSession) -> [WorkerSession.Action]] = [
            { $0.received(.helloRequired) + $0.received(welcome) },
            { $0.linkDown() + $0.linkUp() + $0.received(welcome) },
            { $0.received(welcome) },
        ]
        for (number, change) in changes.enumerated() {
            var session = ready(holding: 1, 2, 3)
            let actions = change(&session)
            #expect(actions.contains(.abandonEverything), "change \(number)")
            for job in 1...3 as ClosedRange<UInt64> {
                #expect(session.attempt(of: JobID(job)) == nil, "change \(number)")
            }
            #expect(session.received(.cancelJob(JobID(1))) == [], "change \(number)")
            #expect(session.finished(outcome(2)) == [.discard(outcome(2))], "change \(number)")
            #expect(session.received(.job(job(1))) == [.start(job(1))], "change \(number)")
            #expect(session.onlyJob?.job == JobID(1), "change \(number)")
            #expect(session.finished(outcome(1)) == [.sendOutcome(outcome(1))])
            #expect(session.received(.drain) == [.sendGoodbye(.drained), .flush])
        }
    }
}
