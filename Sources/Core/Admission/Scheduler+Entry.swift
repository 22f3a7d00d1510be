import Derivation
import Dispatching
import ImageModel
import Messages

// What operators want of one entry of the cache.
extension Scheduler {
    /// The command becomes a job of the cache at once, in class high: somebody waits at a terminal.
    mutating func obey(_ command: CacheCommand, of client: ClientID) {
        guard clients[client] != nil else { return }
        do throws(ImageError) {
            let work = try entryWork(command)
            guard clients[client]?.inquiries.count ?? 0 < Self.inquiriesMax else {
                throw ImageError.busy("the cache is busy")
            }
            let job = try deriver.inquire(work)
            clients[client]?.inquiries[job] = command.number
        } catch {
            let report = CacheReport(number: command.number, outcome: .failure(error))
            actions.append(.cache(client, report))
        }
    }

    private func entryWork(_ command: CacheCommand) throws(ImageError) -> EntryWork {
        guard command.action != .clear else { return try clearing(command) }
        try RequestContext.check(name: command.cache, "cache")
        return EntryWork(
            action: command.action,
            key: try Self.storedText(of: command.key, in: command.cache ?? ""),
            tiers: command.tiers)
    }

    private func clearing(_ command: CacheCommand) throws(ImageError) -> EntryWork {
        guard command.key.isEmpty, command.cache == nil else {
            throw ImageError(
                .invalidRequest, "all caches are cleared together: no cache and no key is named")
        }
        return EntryWork(action: .clear, key: "", tiers: command.tiers)
    }

    /// The answer to a question of an operator.
    mutating func answerInquiry(_ job: JobID, _ outcome: CacheReport.Outcome) {
        guard let client = clients.first(where: { $0.value.inquiries[job] != nil })?.key,
            let number = clients[client]?.inquiries.removeValue(forKey: job)
        else { return }
        actions.append(.cache(client, CacheReport(number: number, outcome: outcome)))
    }

    /// Nobody waits for the answers any more; what is queued is dropped.
    mutating func dropInquiries(of client: LiveClient) {
        for job in client.inquiries.keys.sorted() {
            deriver.dropInquiry(job)
        }
        takeDispatches()
    }

    /// Questions of one operator at a time.
    private static let inquiriesMax = 1_024
}
