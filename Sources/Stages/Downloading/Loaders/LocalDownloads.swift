import ImageModel
import Messages
import Synchronization

/// The jobs of a loop that libcurl has no part in.
final class LocalDownloads {
    /// A job whose file is being read.
    struct Active {
        let job: Job
        let task: FileTask
        var deadline: Instant
        let started: Instant
        var progress: ProgressPacer
    }

    var active: [JobID: Active] = [:]
    /// Answers that no turn of the loop has taken yet.
    let answers = AnswerBox()
    /// `nil` before the first file.
    var readers: FileReaders?

    /// Where threads leave their answers.
    final class AnswerBox: Sendable {
        private let waiting = Mutex([FileReaders.Answer]())

        func put(_ answer: FileReaders.Answer) { waiting.withLock { $0.append(answer) } }

        func take() -> [FileReaders.Answer] {
            waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
        }
    }

    /// What a batch of wishes changes.
    func obey(_ batch: DownloadInbox.Batch, at now: UInt64) {
        for (id, deadline) in batch.deadlines { active[id]?.deadline = deadline }
        for id in batch.progress { active[id]?.progress.want(at: now) }
    }

    /// Jobs whose time is over.
    func expired(at now: Instant) -> [JobID] {
        active.filter { $0.value.deadline <= now }.map(\.key)
    }
}
