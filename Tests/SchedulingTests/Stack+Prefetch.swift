import Model

@testable import Coordinator

/// The terms of a batch: the template's, and those of URLs that resolve differently.
struct PrefetchTerms {
    var terms = LoadTerms()
    var members: [String: Resolution] = [:]
}

extension Resolution {
    init(_ request: ImageRequest, _ terms: LoadTerms) {
        self.init(request)
        self.terms = terms
        self.terms.overlays = request.preparedOverlays
    }
}

extension LoadTerms {
    /// The terms for a URL that the configuration refuses.
    func refusing(_ code: ErrorCode) -> LoadTerms {
        var terms = self
        terms.refusal = ImageError(code, "as told")
        return terms
    }
}

// Batches and their reports.
extension Stack {
    /// Sends a batch, or a further part of one.
    @discardableResult
    mutating func prefetch(
        _ names: [String], by client: ClientID, batch: Token? = nil, isLast: Bool = true,
        concurrency: UInt32 = 0, like image: ImageRequest = .image(size: 5),
        terms: PrefetchTerms = PrefetchTerms()
    ) -> Token {
        lastToken += 1
        let token = batch ?? Token(Identifier128(high: 2, low: lastToken))
        if prefetching[token] == nil, waiting[token] == nil { prefetching[token] = client }
        let request = PrefetchRequest(
            batch: token, image: image, urls: names.map { ImageRequest.image($0).url },
            isLast: isLast, concurrency: concurrency)
        resolve(terms.members)
        send(.prefetch(client, request, terms.terms))
        return token
    }

    /// From now on these URLs of prefetches resolve to these requests.
    mutating func resolve(_ more: [String: Resolution]) {
        members.merge(more) { $1 }
        let members = members
        scheduler.lateResolution = { request, kind in
            let own = kind == .prefetched ? members[request.url] : nil
            return own ?? Resolution(request)
        }
    }

    /// The latest report of a batch.
    func report(_ batch: Token) -> PrefetchReport? { prefetchReports[batch]?.last }

    mutating func prefetched(_ report: PrefetchReport, of client: ClientID) {
        if prefetching[report.batch] != client { fault("a report of no batch of this client") }
        if report.skipped > report.finished || report.finished + report.cancelled > report.total {
            fault("the counts of a report do not fit together")
        }
        if report.isFinal {
            if report.finished + report.cancelled != report.total {
                fault("a batch ended before its URLs")
            }
            prefetching[report.batch] = nil
        } else if report.cancelled != 0 {
            fault("what was cancelled is told at the end")
        }
        if let last = self.report(report.batch), last.finished > report.finished {
            fault("a batch went backwards")
        }
        prefetchReports[report.batch, default: []].append(report)
    }

    mutating func refused(_ batch: Token, of client: ClientID, _ error: ImageError) {
        if prefetching[batch] == client { prefetching[batch] = nil }
        refusals[batch] = error
    }

    /// Runs until everything is idle, advancing the clock.
    mutating func finishEverything() {
        repeat {
            finishAll()
            send(.tick)
        } while !allHeld.isEmpty || scheduler.wantsToPrefetch
    }
}
