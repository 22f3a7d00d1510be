import Model

@testable import Coordinator

extension Stack {
    private mutating func newToken(_ token: Token?, high: UInt64 = 1) -> Token {
        lastToken += 1
        return token ?? Token(Identifier128(high: high, low: lastToken))
    }

    @discardableResult
    mutating func load(
        _ image: ImageRequest, by client: ClientID? = nil, token: Token? = nil,
        group: GroupID? = nil,
        wantsProgress: Bool = false, wantsInfo: Bool = false, staleRetries: UInt8 = 0,
        detach: Bool = false, slot: String? = nil, terms: LoadTerms = LoadTerms(),
        trace: TraceContext? = nil, requestID: RequestID? = nil, httpClient: UInt64 = 0,
        isRepeatable: Bool = false
    ) -> Token {
        let (client, token) = (sender(client), newToken(token))
        let load = LoadRequest(
            token: token, group: group, image: image, wantsProgress: wantsProgress,
            wantsInfo: wantsInfo, staleRetries: staleRetries, detach: detach, slot: slot,
            logContext: LogContext(trace: trace, requestID: requestID), httpClient: httpClient)
        let detach = detach || image.options.contains(.continueInBackground)
        if let owner = waiting[token], !clients.contains(owner),
            incarnations[owner] == incarnations[client]
        {
            waiting[token] = client
        }
        if waiting[token] == nil {
            if detach { detached.insert(token) } else { detached.remove(token) }
            waiting[token] = client
            wanted[token] = image
            asked[token] = terms.cache
            replies[token] = nil
            progress[token] = nil
            shown[token] = nil
            refreshing.remove(token)
        }
        var terms = terms
        // Does the configuration's part: a request's own serializer isn't a named one here.
        if let serializer = image.context.serializer { terms.serializer = serializer }
        if terms.overlays.isEmpty { terms.overlays = image.preparedOverlays }
        terms.fallback = PreparedFallback(image.context.fallback, of: image)
        let serializers = [terms.serializer] + terms.overlays.map(\.terms.serializer)
        if serializers.contains(where: { $0.output != nil }) { transcodes = true }
        let isRefused = scheduler.refuses(image, terms, at: now)
        let isLive = scheduler.tokens[token] != nil
        sendComparing(load, by: client, terms, isRepeatable)
        if isRefused, !isLive, error(token) != .blacklisted, !scheduler.drain.isBegun,
            (try? image.checkLoadOptions()) != nil, terms.firstRefusal == nil,
            !isFallback(token, for: .blacklisted)
        {
            fault("what is blacklisted was admitted")
        }
        recordTicket(load, terms)
        return token
    }

    /// Sends a load. Returns its error if it was refused.
    mutating func refusal(
        of image: ImageRequest, by client: ClientID? = nil, terms: LoadTerms = LoadTerms()
    ) -> ErrorCode? {
        let token = load(image, by: client, terms: terms)
        return error(token)
    }

    /// Sends a load. Returns its outcome unless it is waiting.
    mutating func outcome(
        of image: ImageRequest, by client: ClientID? = nil, terms: LoadTerms = LoadTerms()
    ) -> Reply.Outcome? {
        let token = load(image, by: client, terms: terms)
        return reply(token)?.outcome
    }

    mutating func cancel(_ token: Token, by client: ClientID? = nil) {
        send(.cancel(sender(client), token))
    }

    mutating func reprioritize(
        _ token: Token, _ priority: Priority, by client: ClientID? = nil
    ) {
        send(.reprioritize(sender(client), token, priority))
    }

    /// A client releases one large block.
    mutating func release(_ index: Int, by client: ClientID? = nil) {
        let client = sender(client)
        guard let reference = reading[client]?.remove(at: index) else { return }
        send(.clientReleased(client, [reference.block]))
    }

    // MARK: - Uploads

    /// An image uploaded by a client; equal names mean equal bytes.
    @discardableResult
    mutating func upload(
        _ name: String, by client: ClientID? = nil, token: Token? = nil, group: GroupID? = nil,
        slot: String? = nil, length: UInt64 = 900, _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> Token {
        let (client, token) = (sender(client), newToken(token))
        var image = ImageRequest(url: "\(Scheduler.uploadScheme):\(name)")
        change(&image)
        if waiting[token] == nil, image.options.contains(.continueInBackground) {
            detached.insert(token)
        }
        let reference = uploaded(image, image, by: client, token, length: length)
        let load = LoadRequest(
            token: token, group: group, image: image, uploadBytes: length, slot: slot)
        var terms = LoadTerms(laying: image)
        terms.serializer = image.context.serializer ?? .asIs
        terms.fallback = PreparedFallback(image.context.fallback, of: image)
        send(.loadUpload(client, load, terms, reference))
        return token
    }

    /// Bytes that an operator stores under a key; a given token may be a live one.
    @discardableResult
    mutating func put(
        _ key: String, by client: ClientID? = nil, in tiers: CacheTypes = .all,
        token: Token? = nil, _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> Token {
        let (client, token) = (sender(client), newToken(token))
        var image = ImageRequest(url: "\(Scheduler.uploadScheme):put")
        image.infoOnly = true
        image.storeCacheTypes = tiers
        image.context.key = .text(key)
        change(&image)
        let reference = uploaded(
            image, image.with { $0.options = .waitStoreCache }, by: client, token, length: 900)
        let load = LoadRequest(token: token, image: image, uploadBytes: 900)
        var terms = LoadTerms()
        terms.cache = image.context.cache ?? ""
        terms.serializer = image.context.serializer ?? .asIs
        send(.put(client, load, terms, reference))
        return token
    }

    /// Records an uploaded image and what its reply is checked against. Returns its block.
    private mutating func uploaded(
        _ image: ImageRequest, _ expected: ImageRequest, by client: ClientID, _ token: Token,
        length: UInt64
    ) -> BlockReference {
        if image.context.serializer?.output != nil { transcodes = true }
        producer.lastBlock += 1
        let block = BlockID(producer.lastBlock)
        producer.live.insert(block)
        if waiting[token] == nil {
            waiting[token] = client
            wanted[token] = expected
            replies[token] = nil
        }
        return BlockReference(segment: 0, offset: 64, length: length, block: block)
    }

    // MARK: - Operators

    /// Sends a command on entries.
    mutating func ask(_ command: CacheCommand, by client: ClientID? = nil) {
        let client = sender(client)
        questions[command.number] = client
        send(.cache(client, command))
    }

    /// Sends a command on one entry, or on a selection.
    mutating func ask(
        _ number: UInt64, _ action: EntryAction, _ key: String = "",
        _ selection: EntrySelection = EntrySelection(), in cache: String? = nil,
        of tiers: CacheTypes = .all
    ) {
        ask(
            CacheCommand(
                number: number, action: action, cache: cache, key: key, tiers: tiers,
                selection: selection))
    }

    mutating func ask(_ number: UInt64, _ action: EntryAction, _ selection: EntrySelection) {
        ask(number, action, "", selection)
    }

    /// The reason for which a command on entries failed.
    func refusal(_ number: UInt64) -> ImageError? {
        if case .failure(let error)? = answers[number] { error } else { nil }
    }

    /// The entries, or their number, with which a command was answered.
    func page(_ number: UInt64) -> EntryPage? {
        if case .page(let page)? = answers[number] { page } else { nil }
    }

    /// Lists or changes the failure cache. Returns the report.
    @discardableResult
    mutating func ask(_ command: FailureCacheCommand) -> FailureCacheReport? {
        send(.failureCache(sender(nil), command))
        return reports.last
    }

    // MARK: - Batches

    /// Sends a batch, or a further part of one.
    @discardableResult
    mutating func prefetch(
        _ names: [String], by client: ClientID? = nil, batch: Token? = nil, isLast: Bool = true,
        concurrency: UInt32 = 0, like image: ImageRequest = .image(size: 5),
        terms: PrefetchTerms = PrefetchTerms()
    ) -> Token {
        let (client, token) = (sender(client), newToken(batch, high: 2))
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

    // MARK: - Repeated hits

    /// A load without its token.
    struct Saying: Hashable {
        let load: LoadRequest
        let terms: LoadTerms

        init(_ load: LoadRequest, _ terms: LoadTerms) {
            self.load = LoadRequest(
                token: Token(Identifier128(high: 0, low: 0)), group: load.group, image: load.image,
                wantsProgress: load.wantsProgress, wantsInfo: load.wantsInfo,
                staleRetries: load.staleRetries, detach: load.detach, slot: load.slot)
            self.terms = terms
        }
    }

    /// Sends a load. Records a fault if the answer of an earlier ticket would have differed.
    mutating func sendComparing(
        _ load: LoadRequest, by client: ClientID, _ terms: LoadTerms, _ isRepeatable: Bool
    ) {
        let ticket = tickets[Saying(load, terms)].flatMap { ticket in
            scheduler.mayAnswer(ticket, again: load.token, of: client, at: now) ? ticket : nil
        }
        let before = counters
        send(.load(client, load, terms, isRepeatable: isRepeatable))
        guard let ticket else { return }
        repeatedHits += 1
        if replies[load.token]?.count != 1 || image(load.token)?.unvouched != ticket.image {
            faults.append("the short way is another")
        }
        if counters.requests != before.requests + 1 || counters.memoryHits != before.memoryHits + 1
        {
            faults.append("the short way counts otherwise")
        }
    }

    /// Keeps the ticket of a load answered from memory; sometimes keeps an older one, so that it is
    /// tried after it became invalid.
    mutating func recordTicket(_ load: LoadRequest, _ terms: LoadTerms) {
        let saying = Saying(load, terms)
        guard tickets[saying] == nil || lastToken % 4 == 0 else { return }
        tickets[saying] = ticket(for: load, terms) ?? tickets[saying]
    }

    /// The ticket with which a load would be answered from memory.
    func ticket(_ image: ImageRequest, _ terms: LoadTerms = LoadTerms()) -> HitTicket? {
        ticket(for: LoadRequest(token: Token(5), image: image), terms)
    }

    /// The ticket that a repeatable load would get now.
    func ticket(for load: LoadRequest, _ terms: LoadTerms = LoadTerms()) -> HitTicket? {
        // Checked first, because `prepare` counts refusals.
        guard scheduler.refusal(of: load.image, terms) == nil,
            let (names, plan) = try? scheduler.prepare(load, terms)
        else { return nil }
        return scheduler.ticket(for: load, terms, plan, names)
    }
}

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
        with { $0.refusal = ImageError(code, "as told") }
    }

    /// The default terms of an image with overlays.
    init(laying image: ImageRequest) {
        self.init()
        overlays = image.preparedOverlays
    }

    /// The terms of a load whose results and originals are in that cache.
    static func kept(in cache: String) -> LoadTerms {
        LoadTerms().with { ($0.cache, $0.originalCache) = (cache, cache) }
    }

    func with(_ change: (inout LoadTerms) -> Void) -> LoadTerms {
        var terms = self
        change(&terms)
        return terms
    }
}

extension Token {
    /// A token that no helper draws.
    init(_ number: UInt64) { self.init(Identifier128(high: 5, low: number)) }
}

extension GroupID {
    init(_ number: UInt64) { self.init(Identifier128(high: 5, low: number)) }
}
