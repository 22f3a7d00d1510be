import Admission
import ImageModel
import Messages

// Batches of URLs.
extension Coordinator {
    /// A batch, or a part of one. Each URL is resolved by itself, as that of a load is, when the
    /// scheduler begins it (`lateResolution`): a long list costs no more than its text.
    mutating func prefetch(_ request: PrefetchRequest, for client: ClientID, at now: Instant) {
        var image = request.image
        image.url = Self.anyURL
        handle(.prefetch(client, request, resolveTemplate(image)), at: now)
    }

    /// On what terms the template itself is loaded: what is wrong with it is wrong with all URLs.
    private func resolveTemplate(_ image: ImageRequest) -> LoadTerms {
        do throws(ImageError) {
            try configuration.check(image)
            return LoadTerms(identity: identities.identity(of: Resolution(image)))
        } catch {
            var terms = LoadTerms()
            terms.refusal = error
            return terms
        }
    }

    /// Stands where a URL has to stand.
    private static let anyURL = "http://host/"

    /// Of a batch only the newest report of a turn goes out, and the last one at once.
    mutating func prefetched(_ report: PrefetchReport, of client: ClientID, at now: Instant) {
        guard report.isFinal else {
            prefetchReports[client, default: [:]][report.batch] = report
            return
        }
        prefetchReports[client]?[report.batch] = nil
        send(.toClient(.prefetched(report)), to: client.value, at: now)
    }

    /// The reports of a turn.
    mutating func tellPrefetches(at now: Instant) {
        guard !prefetchReports.isEmpty else { return }
        let reports = prefetchReports
        prefetchReports.removeAll(keepingCapacity: true)
        for (client, reports) in reports {
            for report in reports.values {
                send(.toClient(.prefetched(report)), to: client.value, at: now)
            }
        }
    }
}
