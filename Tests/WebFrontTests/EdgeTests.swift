import MicroHTTPD
import Model
import Testing
import WebGrammar

@testable import WebFront

/// Trusted proxies, and the fields trusted from them.
@Suite struct EdgeTests {
    private func edge(_ trusted: String, field: String? = nil) throws -> EdgeSettings {
        var edge = EdgeSettings()
        edge.trusted = try #require(TrustedNetworks(trusted))
        if let field { edge.clientField = field }
        return edge
    }

    private func peer(_ text: String) throws -> PeerAddress {
        text == "unix" ? .unix : try #require(PeerAddress(text: text))
    }

    // MARK: - Networks

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("10.1.2.3/8", "10.9.9.9", true), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false), ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
        ("127.0.0.1, ::1", "::1", true), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
        ("10.0.0.0/31", "10.0.0.1", true), ("10.0.0.0/31", "10.0.0.2", false),
        ("10.0.0.0/8", "unix", false), ("unix", "unix", true), ("unix", "127.0.0.1", false),
    ])
    func aNetworkHasItsAddresses(text: String, address: String, isIn: Bool) throws {
        let networks = try #require(TrustedNetworks(text))
        #expect(try networks.contains(peer(address)) == isIn && !networks.isEmpty)
    }

    @Test(arguments: [
        "", ",", "10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "host",
        "10.0.0.0/8,", "10.0.0", "10.0.0.0/+8", "[::1]",
    ])
    func otherTextsAreNoNetworks(text: String) { #expect(TrustedNetworks(text) == nil) }

    @Test func nobodyIsBelievedUnlessThatIsSaid() {
        #expect(TrustedNetworks().isEmpty && !TrustedNetworks().contains(.unix))
        let edge = EdgeSettings()
        #expect(edge.client(of: .ip(1)) { _ in "192.0.2.1" } == "::1")
    }

    // MARK: - Clients

    @Test(arguments: [
        // The last address that isn't a proxy, whatever precedes it.
        ("198.51.100.7", "198.51.100.7"), ("1.2.3.4, 198.51.100.7", "198.51.100.7"),
        ("198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("1.1.1.1, 198.51.100.7, 10.0.0.3, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.4, 10.0.0.3", "10.0.0.4"), ("198.51.100.7:8080", "198.51.100.7"),
        ("[2001:db8::1]:8080, 10.0.0.2", "2001:db8::1"), ("2001:DB8::1", "2001:db8::1"),
        // Invalid addresses are ignored.
        ("unknown", "10.0.0.1"), ("198.51.100.7, unknown", "10.0.0.1"), ("", "10.0.0.1"),
        ("198.51.100.7, _hidden, 10.0.0.2", "10.0.0.2"), (",", "10.0.0.1"),
    ])
    func theClientIsTheLastAddressThatIsNoProxys(field: String, client: String) throws {
        let edge = try edge("10.0.0.0/8")
        let found = try edge.client(of: peer("10.0.0.1")) { $0 == "X-Forwarded-For" ? field : nil }
        #expect(found == client)
        let others = try edge.client(of: peer("11.0.0.1")) { _ in field }
        #expect(others == "11.0.0.1", "other peers aren't trusted")
    }

    @Test(arguments: [
        ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
        ("for=192.0.2.43, for=10.0.0.9", "192.0.2.43"),
        ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
        ("for=1.1.1.1, proto=\"a,for=6.6.6.6;b\";for=192.0.2.43", "192.0.2.43"),
        ("for=\"a\\\",for=6.6.6.6\"", "10.0.0.1"), ("for=unknown", "10.0.0.1"),
        ("for=192.0.2.43;x=\"a,\\\"b\"", "192.0.2.43"),
        ("proto=http", "10.0.0.1"),
        // An unterminated quote from a client doesn't swallow what the proxy appends.
        ("for=6.6.6.6;x=\", for=192.0.2.43", "192.0.2.43"),
        ("for=6.6.6.6;x=\", for=\"[2001:db8::1]:4711\"", "2001:db8::1"),
        ("for=6.6.6.6;x=\"\\, for=192.0.2.43", "192.0.2.43"),
    ])
    func forwardedIsReadAsItsStandardSays(field: String, client: String) throws {
        let edge = try edge("10.0.0.0/8", field: "Forwarded")
        #expect(try edge.client(of: peer("10.0.0.1")) { $0 == "Forwarded" ? field : nil } == client)
    }

    @Test func anyOtherFieldIsTheClient() throws {
        let edge = try edge("unix", field: "X-Real-IP")
        #expect(edge.client(of: .unix) { $0 == "X-Real-IP" ? " me " : nil } == "me")
        #expect(edge.client(of: .unix) { _ in nil } == "unix")
        let long = edge.client(of: .unix) { _ in String(repeating: "a", count: 9_999) }
        #expect(long.utf8.count == 256)
    }

    @Test func aLongListIsNotReadToItsBeginning() throws {
        let list =
            "198.51.100.7, " + Array(repeating: "10.0.0.2", count: 100).joined(separator: ",")
        #expect(try edge("10.0.0.0/8").client(of: peer("10.0.0.1")) { _ in list } == "10.0.0.2")
    }

    // MARK: - Request ids

    private let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func aProxyNamesItsRequests() throws {
        let fields = ["X-Request-Id": "r-1", "traceparent": trace]
        let edge = try edge("10.0.0.1")
        let named = try edge.ids(of: peer("10.0.0.1")) { fields[$0] }
        #expect(named.requestID?.text == "r-1" && named.trace?.text == trace)
        #expect(named.httpFields.pairs.map(\.value) == ["r-1", trace])
        let other = try edge.ids(of: peer("10.0.0.2")) { fields[$0] }
        #expect(other.requestID?.text != "r-1" && other.trace?.text != trace, "not trusted")
        let wrong = try edge.ids(of: peer("10.0.0.1")) { _ in "a b" }
        #expect(wrong.requestID?.text.utf8.count == 32 && !wrong.isSampled)
    }

    @Test func namesThatAreMadeDifferAndAreNotSampled() {
        let all = (0..<1_000).map { _ in
            EdgeSettings().ids(of: .unix) { _ in nil }
        }
        #expect(Set(all.map(\.requestID)).count == 1_000)
        #expect(Set(all.map(\.trace?.trace)).count == 1_000)
        #expect(all.allSatisfy { !$0.isSampled && !$0.isProbe })
    }

    // MARK: - Log fields

    @Test func closedConnectionsAreReportedNowAndThen() {
        var refused = RefusedConnections()
        let begin = Instant(nanoseconds: 1_000_000_000)
        #expect(refused.nextReport(at: begin) == nil)
        refused.add(.ip(1))
        refused.add(.ip(2))
        let first = refused.nextReport(at: begin)
        #expect(first?.count == 2 && first?.last == .ip(2))
        refused.add(.ip(3))
        #expect(refused.nextReport(at: begin.adding(milliseconds: 9_999)) == nil)
        let second = refused.nextReport(at: begin.adding(milliseconds: 10_000))
        #expect(second?.count == 1 && second?.last == .ip(3))
        #expect(refused.nextReport(at: begin.adding(milliseconds: 99_999)) == nil)
        #expect(refused.total == 3)
    }

    @Test func aReasonIsNamedOnceAndNotEachOfAFlood() {
        var reasons = ReportedReasons()
        #expect(reasons.record("a") == "a" && reasons.record("a") == nil)
        let named = (0..<1_000).compactMap { reasons.record("reason \($0)") }
        #expect(named.count == 99)
        var long = ReportedReasons()
        #expect(long.record(String(repeating: "é", count: 5_000))?.utf8.count ?? 999 <= 200)
    }

    // MARK: - Cache results

    private func properties(
        _ tiers: CacheTypes, freshFor: Int64 = 60_000, staleFor: Int64 = 0,
        failure: ImageError? = nil
    ) -> DeliveredProperties {
        let expiry = HTTPExpiry(born: 1_000_000, freshFor: freshFor, staleFor: staleFor)
        return DeliveredProperties(
            byteCount: 1, validity: Validity(expiry: expiry, originFailure: failure), tiers: tiers)
    }

    private var plan: RequestPlan {
        RequestPlan(WebRequest(ImageRequest(url: "https://a/b")))
    }

    @Test func aTierOrTheOriginIsNamed() {
        let now: Int64 = 1_010_000
        #expect(properties(.memory).cacheResult(for: plan, now: now) == .memory)
        #expect(properties(.disk).cacheResult(for: plan, now: now) == .disk)
        #expect(properties(.none).cacheResult(for: plan, now: now) == .origin)
        // It has just been revalidated.
        let confirmed = properties(.disk, freshFor: 0)
        #expect(confirmed.cacheResult(for: plan, now: now) == .disk)
    }

    @Test func whatIsNoLongerFreshIsStale() {
        let old = properties(.memory, staleFor: 600_000)
        #expect(old.cacheResult(for: plan, now: 1_059_999) == .memory)
        #expect(old.cacheResult(for: plan, now: 1_060_000) == .stale)
        let failed = properties(.disk, failure: ImageError(.connectionFailed, ""))
        #expect(failed.cacheResult(for: plan, now: 1_010_000) == .stale)
        let fetched = properties(.none, freshFor: 0, staleFor: 600_000)
        #expect(fetched.cacheResult(for: plan, now: 1_010_000) == .origin)
    }

    @Test func aFallbackAndAnUploadHaveNoOrigin() {
        var sent = plan
        sent.upload = .body
        #expect(properties(.none).cacheResult(for: sent, now: 0) == nil)
        var shown = plan
        shown.fallbackFor = ImageError(.timedOut, "")
        #expect(properties(.memory).cacheResult(for: shown, now: 0) == nil)
    }

    @Test func theFieldIsLeftOutWhereTheOperatorSaysSo() {
        var answers = ImageAnswer()
        let image = properties(.memory)
        #expect(answers.head(of: image, for: plan, now: 1_010_000).field("X-Cache") == "memory")
        answers.saysCache = false
        #expect(answers.head(of: image, for: plan, now: 1_010_000).field("X-Cache") == nil)
    }
}
