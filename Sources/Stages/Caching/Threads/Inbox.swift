internal import Synchronization

/// Answers of other threads, until the bus thread takes them.
final class Inbox: Sendable {
    enum Answer: Sendable {
        case disk(DiskAnswer)
        case copy(CopyAnswer)
        case readOnly(ReadOnlyAnswer)
    }

    private let answers = Mutex<[Answer]>([])
    private let wake: @Sendable () -> Void

    /// `wake` makes the bus thread call for them; any thread calls it.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func put(_ answer: Answer) {
        let wasEmpty = answers.withLock { answers in
            defer { answers.append(answer) }
            return answers.isEmpty
        }
        if wasEmpty { wake() }
    }

    func takeAll() -> [Answer] {
        answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }
}
