import ImageModel
import Messages
import Scheduling

// Batches of URLs, and slots: what concerns more than one load of a client.
extension Coordinator {
    /// A batch, or a part of one. Credentials are named here, as those of loads are.
    mutating func prefetch(_ request: PrefetchRequest, for client: ClientID, at now: Instant) {
        var image = request.image
        image.url = ""
        var digests = PrefetchIdentities(ofHeaders: identities.identity(of: image))
        for url in request.urls where url.utf8.contains(UInt8(ascii: "@")) {
            image.url = url
            digests.ofURLs[url] = identities.identity(of: image)
        }
        handle(.prefetch(client, request, digests), at: now)
    }

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

    /// A load comes into a slot: what is on its way to the slot, or brings its bytes along for it,
    /// ends before.
    mutating func leaveSlot(for load: LoadRequest, of client: ClientID, at now: Instant) {
        guard let slot = load.slot, !load.image.options.contains(.avoidAutoCancelImage) else {
            return
        }
        cancelPieces(of: client, at: now) { $0.slot == slot && $0.token != load.token }
        // Another load takes the slot when it is admitted, which is now.
        if load.uploadBytes > 0 { handle(.leaveSlot(client, slot: slot), at: now) }
    }
}
