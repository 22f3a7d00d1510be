import ImageModel
import Messages

// A job could not read what it was given (DESIGN §4, §6: a producer forges or truncates).
extension Scheduler {
    /// The bytes behind the job's reference are gone, or fewer than was said. The cache is
    /// believed: the producer loses its session, and all that it made is made again. Any other
    /// reader might say so to harm the producer: there the work is repeated, and counted.
    mutating func inputLost(_ job: ActiveJob, _ purpose: ActiveJob.Purpose) {
        forget(job)
        if job.kind == .cache, let producer = job.input?.worker, producer != cache,
            roster.contains(producer)
        {
            return expel(producer, Self.bytesMissing)
        }
        switch purpose {
        case .decode(let node): again(from: node)
        case .transform(let node), .delivery(let node):
            if let decode = results[node].decode {
                dissolve(decode, .again)
            } else {
                dissolve(node, .again)
            }
        case .original(let node): originalStored(node, job.id, tiers: .none)
        case .lookup, .source: preconditionFailure("queries and fetches read no block")
        }
    }

    /// A decode that could not read its source: all who need these bytes begin again.
    private mutating func again(from node: DecodeNode.ID) {
        guard let source = decodes[node].source else { return dissolve(node, .again) }
        dissolve(source, .again)
    }

    private static let bytesMissing = ImageError(
        .protocolViolation, "the bytes that a worker handed over are not where it said")
}
