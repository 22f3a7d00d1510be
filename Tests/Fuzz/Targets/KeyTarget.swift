import Coordinator
import Model

/// Two requests, the second one usually a variant of the first.
///
/// Every request is refused, or queried under the keys of `CacheKey`. A key is the URL with a
/// suffix inserted; among admitted requests for one URL, equal keys mean equal results; and no key
/// depends on the order of headers with different names.
enum KeyTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        var reader = ByteReader(bytes)
        let request = reader.request()
        var other = reader.bool() ? request : reader.request()
        if reader.bool() { other.url = request.url }
        vary(&other, &reader)
        let isAdmitted = try checkAdmission(of: request, identity: reader.bool() ? "id" : nil)
        try checkHeaders(of: request)
        try checkInsertion(reader.text(), into: reader.text())
        guard let url = try? SourceURL(request.url) else { return }
        try checkText(of: request, url)
        guard isAdmitted, other.url == request.url,
            try checkAdmission(of: other, identity: "id"),
            CacheKey.result(request, url: url, terms: LoadTerms(identity: "id"))
                == CacheKey.result(other, url: url, terms: LoadTerms(identity: "id"))
        else { return }
        try expect(
            meaning(of: request) == meaning(of: other), "one key has one meaning")
    }

    private static func vary(_ request: inout ImageRequest, _ reader: inout ByteReader) {
        switch reader.choice(8) {
        case 0: request.steps.append(reader.step())
        case 1: request.steps = request.steps.dropLast()
        case 2: request.output.quality = reader.number()
        case 3: request.output.format = reader.pick(ImageFormat.allCases)
        case 4: request.output.lossless.toggle()
        case 5: request.thumbnail = nil
        case 6: request.infoOnly.toggle()
        default: break
        }
    }

    /// The parts of a request that determine the pixels and bytes of its result, besides the
    /// source. Angles within the tolerance of a quarter turn count as that turn; header properties
    /// need no bytes.
    private static func meaning(of request: ImageRequest) -> ImageRequest {
        var plain = ImageRequest(url: request.url)
        plain.output = request.output
        plain.steps = request.allSteps.map { step in
            guard case .rotate(let rotation) = step,
                let turns = rotation.quarterTurnsClockwise
            else { return step }
            return .rotate(Rotation(radians: Double(turns), fitsSize: rotation.fitsSize))
        }
        return plain
    }

    // MARK: - Admission

    /// Whether the scheduler admits the request; if so, checks the keys of its query.
    private static func checkAdmission(of request: ImageRequest, identity: String?)
        throws(BrokenInvariant) -> Bool
    {
        var image = request
        image.queryCacheTypes = .all
        image.options = []
        try checkFallback(of: image, identity)
        image.context.fallback = nil
        let actions = actions(for: image, identity)
        for case .reply(_, let reply) in actions {
            guard case .failure(let error) = reply.outcome, actions.count == 1 else {
                throw BrokenInvariant(what: "a request is refused with one error")
            }
            try expect(error.code != .internalError || identity == nil, "\(error.message)")
            return false
        }
        guard actions.count == 1, case .assign(_, let job) = actions[0],
            case .query(let work) = job.work, let url = try? SourceURL(image.url)
        else { throw BrokenInvariant(what: "a request is refused or asked for") }
        let terms = LoadTerms(identity: identity)
        let key = CacheKey.result(image, url: url, terms: terms)
        let stored = CacheKey.stored(key, in: "", terms)
        try expect(
            work.key.utf8.elementsEqual(stored.utf8), "the key is the one that is documented")
        try expect(CacheKey.key(inStored: stored) == key, "a stored text has its key")
        try expect(key.utf8.count <= MessageLimits.keyBytesMax, "a key is within its limit")
        try expect(
            image.headers.allSatisfy { $0.isValid && !$0.value.utf8.contains(0x0A) },
            "a header that is sent is valid")
        return true
    }

    /// Checks that a request with a fallback gets at most one reply or job.
    private static func checkFallback(of request: ImageRequest, _ identity: String?)
        throws(BrokenInvariant)
    {
        guard request.context.fallback != nil else { return }
        let actions = actions(for: request, identity)
        let replies = actions.count { if case .reply = $0 { true } else { false } }
        let jobs = actions.count { if case .assign = $0 { true } else { false } }
        try expect(replies + jobs <= 1, "a fallback is begun, or the request is answered")
    }

    private static func actions(for request: ImageRequest, _ identity: String?)
        -> [SchedulerAction]
    {
        let scheduler = Scheduler { "\($0.count)" }
        var actions: [SchedulerAction] = []
        let (client, cache) = (ClientID(1), WorkerID(1))
        let life = Incarnation(Identifier128(high: 1, low: 1))
        let load = LoadRequest(token: Token(Identifier128(high: 1, low: 2)), image: request)
        let events: [SchedulerEvent] = [
            .workerJoined(cache, kind: .cache, incarnation: life, credit: 1),
            .clientJoined(client, life),
            .load(client, load, LoadTerms(of: request, identity: identity)),
        ]
        for event in events {
            scheduler.handle(event, at: Instant(nanoseconds: 1), into: &actions)
        }
        return actions.filter { if case .record = $0 { false } else { true } }
    }

    // MARK: - Key texts

    private static func checkText(of request: ImageRequest, _ url: SourceURL)
        throws(BrokenInvariant)
    {
        let bare = url.withoutUserInfo
        try expect(
            CacheKey.original(url: url, terms: LoadTerms()) == bare,
            "the original's key is the URL without user info")
        let result = CacheKey.result(request, url: url, terms: LoadTerms())
        try expect(
            (result == bare) == request.wantsOriginal, "only the source is kept under its URL")
        let own = CacheKey.original(url: url, terms: LoadTerms(identity: "id"))
        try expect(own != bare && own != result, "what is somebody's own has a key of its own")
    }

    /// Checks that no byte of the key is lost and that the suffix is contiguous.
    private static func checkInsertion(_ suffix: String, into key: String)
        throws(BrokenInvariant)
    {
        let (long, short) = (Array(CacheKey.inserting(suffix, into: key).utf8), Array(key.utf8))
        let added = Array("-\(suffix)".utf8)
        try expect(long.count == short.count + added.count, "a suffix adds its bytes")
        let same = zip(long, short).prefix { $0 == $1 }.count
        let fits = (0...same).contains { place in
            long[place...].starts(with: added)
                && long[(place + added.count)...].elementsEqual(short[place...])
        }
        try expect(fits, "a suffix is put in at one place")
    }

    // MARK: - Headers

    private static func checkHeaders(of request: ImageRequest) throws(BrokenInvariant) {
        let key = SourceKey(request)
        var turned = request
        turned.headers.reverse()
        try expect(SourceKey(turned) == key, "headers have one order")
        turned.headers = key.headers
        try expect(SourceKey(turned) == key, "a canonical order is canonical")
        turned.headers = request.headers.map {
            HTTPHeader(name: $0.name.uppercased(), value: $0.value)
        }
        let isToken = request.headers.allSatisfy(\.isValid)
        try expect(!isToken || SourceKey(turned) == key, "names of headers have no case")
        try expect(
            !isToken
                || turned.headers.count(where: \.isCredential)
                    == request.headers.count(where: \.isCredential),
            "credentials have no case")
    }
}
