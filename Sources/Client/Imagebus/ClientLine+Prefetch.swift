import BusConnection
import ImageModel
import Messages
import Wire
import ZeroMQ

// Batches: what goes out of them when nothing else does, and what their callers are told.
extension ClientLine {
    mutating func submit(_ order: PrefetchOrder, _ task: PrefetchTask, at now: Instant) {
        prefetchTasks[order.batch] = task
        perform(prefetches.submitted(order, at: now))
    }

    mutating func perform(_ actions: [PendingPrefetches.Action]) {
        for action in actions {
            switch action {
            case .send(let message): outbox.append(.other(message))
            case .advance(let batch, let counts): prefetchTasks[batch]?.advance(counts)
            case .finish(let batch, let counts, let failures, let ends):
                prefetchTasks.removeValue(forKey: batch)?
                    .finish(.success(counts), failures: failures, ends: ends)
            case .fail(let batch, let error):
                prefetchTasks.removeValue(forKey: batch)?.finish(.failure(error))
            }
        }
    }

    /// Parts of batches, as long as libzmq takes them. One that cannot be encoded ends its batch.
    mutating func sendPrefetches() throws {
        while outbox.isEmpty, let part = prefetches.next {
            do {
                let encoded = try encoder.encode(.prefetch(part))
                guard try connection.socket.send(encoded, from: encoder) == .sent else { return }
                perform(prefetches.sent(part))
            } catch let error as WireError {
                let message = error.imageError.message
                perform(prefetches.refused(ImageError(.invalidRequest, message), part.batch))
            }
        }
    }
}
