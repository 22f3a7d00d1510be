import Testing

@testable import Model

/// A request shares its storage with its copies until one of them is changed.
@Suite struct RequestCopyTests {
    private static let changes: [@Sendable (inout ImageRequest) -> Void] = [
        { $0.url = "http://a/c" }, { $0.headers.append(HTTPHeader(name: "A", value: "b")) },
        { $0.frame = 3 },
        {
            $0.thumbnail = Thumbnail(
                box: PixelSize(width: 5, height: 5), preservesAspectRatio: true)
        },
        { $0.steps.append(.resize(PixelSize(width: 9, height: 9), .fit)) },
        { $0.pixelRatio = 2 }, { $0.output.quality = 7 }, { $0.infoOnly = true },
        { $0.properties = RequestedProperties([.animation]) }, { $0.wantsExplanation = true },
        { $0.assumedLifetime = AssumedLifetime(fresh: 60) },
        { $0.earlierFailureMilliseconds = 5 },
        { $0.options.insert(.refreshCached) }, { $0.queryCacheTypes = .disk },
        { $0.storeCacheTypes = .disk }, { $0.originalQueryCacheTypes = .all },
        { $0.originalStoreCacheTypes = .all }, { $0.timeoutMilliseconds += 1 },
        { $0.context.profile = "hero" }, { $0.priority = .high },
    ]

    /// A request with these changes, which shares nothing.
    private func fresh(_ changes: Int...) -> ImageRequest {
        changes.reduce(into: ImageRequest(url: "http://a/b")) {
            Self.changes[$1 % Self.changes.count](&$0)
        }
    }

    @Test(arguments: changes.indices)
    func aChangedCopyLeavesTheOthers(number: Int) {
        let plain = fresh()
        let first = plain
        var copy = first
        Self.changes[number](&copy)
        #expect(first == plain && plain == fresh())
        #expect(copy != plain)
        let changed = copy
        Self.changes[(number + 1) % Self.changes.count](&copy)
        #expect(changed != copy && changed != plain)
        #expect(fresh(number) == changed && fresh(number).hashValue == changed.hashValue)
    }

    /// A digest computed before a change isn't reused after it.
    @Test(arguments: changes.indices)
    func aDigestIsOfWhatTheRequestSaysNow(number: Int) {
        var request = fresh()
        let plain = (request.digest, request)
        Self.changes[number](&request)
        #expect(request.digest == fresh(number).digest && plain.1.digest == plain.0)
        // Storage that isn't shared is changed in place.
        Self.changes[(number + 1) % Self.changes.count](&request)
        #expect(request.digest == fresh(number, number + 1).digest)
    }

    @Test func classAndTimeoutAreInNoDigest() {
        let plain = ImageRequest(url: "http://a/b")
        var other = plain
        (other.priority, other.timeoutMilliseconds) = (.high, 5)
        #expect(other.digest == plain.digest)
        other.options.insert(.fromCacheOnly)
        #expect(other.digest != plain.digest)
    }

    @Test func aChangedCopySharesNothingAnyMore() {
        let plain = ImageRequest(url: "http://a/b")
        var copy = plain
        #expect(copy.shared === plain.shared)
        copy.timeoutMilliseconds = 5
        #expect(copy.shared !== plain.shared)
        let shared = ObjectIdentifier(copy.shared)
        // One change at a time: memory freed by a first one could be reused by a second one.
        copy.headers.append(HTTPHeader(name: "A", value: "b"))
        #expect(ObjectIdentifier(copy.shared) == shared, "it isn't shared")
    }
}
