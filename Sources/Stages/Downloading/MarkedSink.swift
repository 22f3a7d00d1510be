import Curl
import Messages

/// Takes the response of a job as its sink does, and says meanwhile that it is this job's.
final class MarkedSink: TransferSink {
    private let sink: any TransferSink
    private let job: JobID
    private let pulse: LoopPulse

    init(_ sink: any TransferSink, of job: JobID, _ pulse: LoopPulse) {
        (self.sink, self.job, self.pulse) = (sink, job, pulse)
    }

    func receive(_ head: ResponseHead) -> Bool { pulse.handling(job) { sink.receive(head) } }

    func receive(_ bytes: RawSpan) -> Reception { pulse.handling(job) { sink.receive(bytes) } }
}
