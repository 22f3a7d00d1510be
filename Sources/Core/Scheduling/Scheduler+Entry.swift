import Dispatching
import ImageModel
import Messages

// What operators want of one entry of the cache.
extension Scheduler {
    /// Becomes a job of the cache at once, in class high: somebody waits at a terminal.
    mutating func obey(_ command: CacheCommand, of client: ClientID) {
        guard clients[client] != nil else { return }
        do throws(ImageError) {
            let work = try entryWork(command)
            guard dispatcher.hasRoom(.cache),
                clients[client]?.entryJobs.count ?? 0 < Self.entryJobsMax
            else {
                throw ImageError.busy("the cache is busy")
            }
            if work.action == .remove {
                endTranscodes { $0.text == work.key && !$0.tiers.isDisjoint(with: work.tiers) }
            }
            let job = submit(
                .entry(work), for: .entry(client, command.number), reading: nil,
                .unbounded(.high))
            clients[client]?.entryJobs.insert(job)
        } catch {
            let report = CacheReport(number: command.number, outcome: .failure(error))
            actions.append(.cache(client, report))
        }
    }

    private func entryWork(_ command: CacheCommand) throws(ImageError) -> EntryWork {
        try RequestContext.check(name: command.cache, "cache")
        return EntryWork(
            action: command.action,
            key: try Self.storedText(of: command.key, in: command.cache ?? ""),
            tiers: command.tiers)
    }

    /// The answer to a question of that operator.
    mutating func tell(
        _ client: ClientID, _ number: UInt64, _ job: JobID, _ outcome: CacheReport.Outcome
    ) {
        clients[client]?.entryJobs.remove(job)
        actions.append(.cache(client, CacheReport(number: number, outcome: outcome)))
    }

    /// Nobody waits for the answers any more; what is queued is dropped.
    mutating func dropInquiries(of client: LiveClient) {
        for job in client.entryJobs.sorted() { abandon(job) }
    }

    /// Questions of one operator at a time.
    private static let entryJobsMax = 1_024
}
