import Model
import TestKit

@testable import Coordinator

extension Walk {
    /// Inserts custom steps between built-in ones, sometimes one that no worker implements. Walks
    /// of seeds without them are unchanged.
    mutating func addCustomSteps(to request: inout ImageRequest) {
        guard hasCustomSteps else { return }
        swap(&random, &side)
        defer { swap(&random, &side) }
        guard random.oneIn(3), !request.infoOnly else { return }
        if random.oneIn(4), !request.wantsOriginal { request.output = OutputOptions(format: .qoi) }
        for _ in 0..<draw(1...3) {
            let name = random.oneIn(30) ? "nobody.step" : pick(["acme.mark", "acme.tone"]) ?? ""
            request.steps.insert(
                .custom(CustomStep(name)), at: draw(0...request.steps.count))
        }
    }

    /// Adds a worker for the steps; at times there is none.
    mutating func hireForSteps() {
        guard hasCustomSteps, !stack.workers.values.contains(where: { $0.pool == .steps }) else {
            return
        }
        stack.hire(.transform, credit: draw(1...2), pool: .steps)
    }

    private var hasCustomSteps: Bool {
        stack.scheduler.limits.dispatch.pools.further.contains(where: \.isExternalTransformer)
    }
}

extension WorkerPools {
    /// The default pools and an external one with two steps and two output formats.
    static var withSteps: WorkerPools {
        guard let name = PoolName("steps") else { preconditionFailure("it is a name") }
        var pool = WorkerPool(name: name, kind: .transform)
        pool.trust = .external
        pool.credit = 1_000
        pool.grant = WorkerCapabilities(
            formatsOut: ["pam", "qoi", "tiff"], steps: ["acme.mark", "acme.tone"])
        return WorkerPools([pool])
    }
}

extension PoolID {
    /// The further pool of `WorkerPools.withSteps`.
    static var steps: PoolID? { PoolName("steps").flatMap { WorkerPools.withSteps.id(of: $0) } }
}

extension Walk {
    /// A random fallback: usually nil, sometimes a URL that other loads use as well, or one that
    /// may not be loaded.
    mutating func fallback() -> Fallback? {
        guard random.oneIn(3) else { return nil }
        let fallbacks: [Fallback] = [
            .none, .color(Color(argb: 0x80FF_0000)), .color(Color(argb: 0)),
            .url(ImageRequest.image(pick(["a", "b", "c", "d", "e"]) ?? "a").url),
            .url("http://other.example/a.jpg"), .url("ftp://example.org/a.jpg"),
            .url("http://user:word@example.org/a.jpg"),
        ]
        return pick(fallbacks)
    }

    /// Random terms of a request, some of which affect its overlays.
    mutating func terms(of image: ImageRequest) -> LoadTerms {
        var terms = terms()
        terms.overlays = image.preparedOverlays
        for index in terms.overlays.indices {
            if random.oneIn(12) { terms.overlays[index].terms.mayDownload = false }
            if random.oneIn(12) { terms.overlays[index].terms.serializer = serializer() }
            if random.oneIn(12) {
                terms.overlays[index].terms.refusal = ImageError(.addressForbidden, "no")
            }
        }
        return terms
    }

    private mutating func serializer() -> Serializer {
        hasSerializers ? .transcode(.webp, quality: nil) : .asIs
    }

    /// Adds random overlays: usually none, sometimes a URL that other loads use as well, the image
    /// itself, the same one twice, or one that may not be loaded.
    mutating func addOverlays(to request: inout ImageRequest) {
        guard random.oneIn(4), !request.infoOnly else { return }
        let urls =
            ["a", "b", "c", "d"].map { ImageRequest.image($0).url }
            + [request.url, "http://other.example/a.jpg"]
        for _ in 0..<draw(1...(random.oneIn(20) ? 5 : 3)) {
            let url = random.oneIn(40) ? "ftp://example.org/a.jpg" : pick(urls) ?? ""
            request.steps.append(.overlay(Overlay(url: url, x: draw(-1...1), opacity: 0.5)))
        }
    }

    // MARK: - Random terms set by a configuration

    /// Usually the defaults; otherwise another cache, another key base, or no download.
    mutating func terms() -> LoadTerms {
        var terms = LoadTerms()
        guard random.oneIn(3) else { return terms }
        terms.cache = pick(["", "x", "y"]) ?? ""
        terms.originalCache = pick(["", "x", "z"]) ?? ""
        if random.oneIn(3) { terms.base = pick([.own("k"), .filtered("http://host/a")]) ?? .url }
        if random.oneIn(6) { terms.mayDownload = false }
        if random.oneIn(3) { terms.scope = "other" }
        if random.oneIn(6) { terms.ignoresCacheControl = true }
        if random.oneIn(6) { terms.identity = "me" }
        if random.oneIn(6) { terms.blocks[.error(.badImageData)] = false }
        if random.oneIn(6) { terms.refusal = ImageError(.addressForbidden, "no") }
        return terms
    }

    /// Opens a session of a new client or of an earlier one, in one of two processes or an unknown
    /// one.
    mutating func connect() {
        guard stack.clients.count < 6 else { return }
        let earlier = stack.incarnations.keys.filter { !stack.clients.contains($0) }.sorted()
        _ = stack.connect(
            again: random.oneIn(2) ? pick(earlier) : nil,
            process: random.oneIn(2) ? Int32(draw(1...2)) : nil)
    }

    /// An operator stores bytes under a key used by loads, under an empty one, or again.
    mutating func put() {
        guard let client = pick(stack.clients.sorted()) else { return }
        let key = random.oneIn(9) ? "" : "http://example.org/\(pick(["a", "b"]) ?? "a").jpg"
        let isEncoded = hasSerializers && random.oneIn(3)
        stack.put(
            key, by: client, in: CacheTypes(rawValue: UInt8(draw(0...3))),
            token: random.oneIn(6) ? pick(tokens.filter { stack.waiting[$0] == client }) : nil
        ) { image in
            if isEncoded { image.context.serializer = .transcode(.webp, quality: 1) }
        }
    }

    // MARK: - Batches, whole and in parts

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

    // MARK: - Answers that clients may repeat by themselves

    /// Grants vouchers for some images in memory; occasionally changes the configuration.
    mutating func stepAside() {
        swap(&random, &side)
        if random.oneIn(6) { vouch() }
        if random.oneIn(2_000) { stack.scheduler.reconfigured() }
        if random.oneIn(30) { hireForSteps() }
        swap(&random, &side)
    }

    /// Sends a client an answer that it may repeat.
    private mutating func vouch() {
        let image = request()
        let load = LoadRequest(token: Token(Identifier128(high: 8, low: 8)), image: image)
        guard var ticket = stack.ticket(for: load, terms(of: image)) else { return }
        stack.scheduler.hits.vouch(for: &ticket)
        vouched.append(ticket)
        vouched += stack.granted
        stack.granted = []
        if vouched.count > 200 { vouched.removeFirst(100) }
    }

    /// Answers that a client would repeat although the scheduler would no longer give them.
    var forgottenWithdrawals: [String] {
        let hits = stack.scheduler.hits
        return vouched.filter {
            hits.isRepeated($0, at: stack.now) && !hits.stands($0.unvouched, at: stack.now)
        }.map { "\($0.image.key) would be repeated" }
    }
}
