import Model

@testable import Coordinator

// Batches, whole and in parts.
extension Walk {
    mutating func prefetchStep(_ step: Step) {
        switch step {
        case .prefetch:
            guard let client = pick(stack.clients.sorted()) else { return }
            prefetch(by: client, batch: random.oneIn(12) ? pick(tokens + batches) : nil)
        case .prefetchMore:
            guard let batch = pick(batches), let client = stack.prefetching[batch] else { return }
            prefetch(by: client, batch: batch)
        case .cancelBatch:
            guard let batch = pick(batches + earlier), let client = pick(stack.clients.sorted())
            else { return }
            stack.send(
                random.oneIn(3)
                    ? .cancelGroup(stack.prefetching[batch] ?? client, GroupID(batch.value))
                    : .cancel(stack.prefetching[batch] ?? client, batch))
        case .cancelBatchOfAny:
            guard let batch = pick(batches) else { return }
            stack.send(
                random.oneIn(2) ? .cancelAny(batch) : .cancelGroupOfAny(GroupID(batch.value)))
        case .endBatch:
            guard let batch = pick(batches), let client = stack.prefetching[batch] else { return }
            stack.send(.prefetchRefused(client, batch))
            stack.prefetching[batch] = nil
        default: return
        }
    }

    var batches: [Token] {
        stack.prefetching.keys.sorted { $0.value.low < $1.value.low }
    }

    private var earlier: [Token] {
        Array(stack.prefetchReports.keys.sorted { $0.value.low < $1.value.low }.suffix(5))
    }

    private mutating func prefetch(by client: ClientID, batch: Token?) {
        let names = (0..<draw(0...6)).map { _ in
            random.oneIn(20) ? "not a URL" : pick(["a", "b", "c", "d"]) ?? "a"
        }
        var image = request()
        if !random.oneIn(6) { image.timeoutMilliseconds = 30_000 }
        stack.prefetch(
            names, by: client, batch: batch, isLast: !random.oneIn(4),
            concurrency: UInt32(draw(0...5)), like: image, terms: prefetchTerms(names, image))
    }

    /// Random terms, with separate ones for some of the URLs.
    private mutating func prefetchTerms(_ names: [String], _ image: ImageRequest) -> PrefetchTerms {
        var all = PrefetchTerms(terms: random.oneIn(4) ? terms() : LoadTerms())
        for name in names where random.oneIn(4) {
            var own = image
            own.url = ImageRequest.image(name).url
            all.members[own.url] = Resolution(own, terms())
        }
        return all
    }

    /// Sends the last parts.
    mutating func completeBatches() {
        for batch in batches {
            if let client = stack.prefetching[batch] {
                stack.prefetch([], by: client, batch: batch)
            }
        }
    }
}
