import Model

// Operators' commands for cache entries.
extension Scheduler {
    /// Submits the command as a cache job in class high, because an operator is waiting.
    func apply(_ command: CacheCommand, of client: ClientID) {
        guard clients[client] != nil else { return }
        do throws(ImageError) {
            let work = try entryWork(command)
            guard clients[client]?.inquiries.count ?? 0 < Self.inquiriesMax else {
                throw ImageError.busy("the cache is busy")
            }
            let job = try workGraph.inquire(work)
            clients[client]?.inquiries[job] = command.number
            if command.wantsProgress { clients[client]?.wantsProgress.insert(job) }
            handleEvents()
        } catch {
            let report = CacheReport(number: command.number, outcome: .failure(error))
            shared.actions.append(.cache(client, report))
        }
    }

    private func entryWork(_ command: CacheCommand) throws(ImageError) -> EntryWork {
        switch command.action {
        case .contains, .remove:
            try RequestContext.check(name: command.cache, "cache")
            let text = try Self.storedText(of: command.key, in: command.cache ?? "")
            try workGraph.layout.check(text, bytesMax: MessageLimits.keyBytesMax)
            return EntryWork(action: command.action, key: text, tiers: command.tiers)
        case .clear: return try clearing(command)
        case .renew:
            throw ImageError(.invalidRequest, "a command cannot renew entries; only the origin can")
        case .removeSelected, .list, .count, .trim: return try ofSeveral(command)
        }
    }

    private func clearing(_ command: CacheCommand) throws(ImageError) -> EntryWork {
        guard command.key.isEmpty, command.cache == nil, command.selection.isAll else {
            throw ImageError(
                .invalidRequest, "clear applies to all caches and accepts neither a cache nor a key"
            )
        }
        return EntryWork(action: .clear, key: "", tiers: command.tiers)
    }

    private func ofSeveral(_ command: CacheCommand) throws(ImageError) -> EntryWork {
        guard command.key.isEmpty, command.cache == nil else {
            throw ImageError(
                .invalidRequest, "the command accepts a selection, but neither a key nor a cache")
        }
        try ImageError.require(
            command.action != .trim || command.selection.isAll,
            "trim applies to all caches and accepts no selection")
        try ImageError.require(
            command.action != .removeSelected || !command.selection.isAll,
            "no entries selected: specify a URL, prefix, tag, age or cache, or use clear to "
                + "remove all entries")
        let texts = [command.selection.url, command.selection.prefix].compactMap { $0 }
        guard texts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
        else { throw ImageError(.invalidRequest, "invalid URL or prefix: \(texts)") }
        if let tag = command.selection.tag, !CacheTag.isTag(tag) { throw CacheTag.noTag(tag) }
        var selection = command.selection
        selection.url = selection.url.map(Self.shownText)
        selection.prefix = selection.prefix.map(Self.shownText)
        let limit = min(max(Int(command.limit), 0), EntryPage.entriesMax)
        return EntryWork(
            action: command.action, key: "", tiers: command.tiers, selection: selection,
            after: command.after, limit: UInt32(limit == 0 ? EntryPage.entriesMax : limit))
    }

    /// Returns the text as it appears in keys.
    private static func shownText(_ text: String) -> String {
        SourceURL.percentEncodingNonASCII(text)
    }

    /// Sends the answer to an operator's command.
    func answerInquiry(_ job: JobID, _ outcome: CacheReport.Outcome) {
        guard let client = clients.first(where: { $0.value.inquiries[job] != nil })?.key,
            let number = clients[client]?.inquiries[job]
        else { return }
        var outcome = outcome
        if case .progress = outcome {
            guard clients[client]?.wantsProgress.contains(job) == true else { return }
        } else {
            clients[client]?.inquiries[job] = nil
            clients[client]?.wantsProgress.remove(job)
        }
        if case .page(var page) = outcome {
            page.showKeys()
            outcome = .page(page)
        }
        shared.actions.append(.cache(client, CacheReport(number: number, outcome: outcome)))
    }

    /// The largest number of pending commands per operator.
    private static let inquiriesMax = 1_024
}

extension EntryPage {
    /// Splits the stored texts of entries into cache and key.
    fileprivate mutating func showKeys() {
        for index in entries.indices {
            let text = entries[index].key
            entries[index].cache = CacheKey.cache(inStored: text)
            entries[index].key = CacheKey.key(inStored: text)
        }
    }
}

// Suspension of transfers (SEMANTICS §10.17).
extension Scheduler {
    /// Suspends or resumes transfers; waiting ones start with the next event.
    func apply(_ command: DownloadCommand) {
        dispatcher.transfers.isSuspended = command == .suspend
    }
}
