import Downloading
import ImageModel
import Messages
import TestKit
import Testing

/// Origins that speak TLS, with authorities that a test makes.
@Suite struct SecureOriginTests {
    private static let made = Result { try TestAuthority() }
    private let authority: TestAuthority

    init() throws { authority = try Self.made.get() }

    private func bench(
        _ fronts: (OriginServer) throws -> SecureFront, trusting file: String?,
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> (DownloadBench, SecureFront) {
        let origin = OriginServer()
        let front = try fronts(origin)
        let bench = try DownloadBench(origin: origin) {
            $0.allowedAddresses.append(front.address)
            $0.certificatesFile = file
            change(&$0)
        }
        return (bench, front)
    }

    @Test(arguments: ["h2,http/1.1", "http/1.1"])
    func aTrustedOriginIsAsked(_ protocols: String) async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, of: authority, protocols: protocols) },
            trusting: authority.certificate)
        let bytes = OriginBody.generatedBytes(count: 1_000_000)
        bench.origin.route("/a", .bytes(bytes).with(header: "ETag", "\"e\""))
        bench.start(front.url("/a"))
        let outcome = try #require(await bench.outcome())
        let body = try #require(outcome.body, "\(outcome)")
        #expect(bench.space.bytes(body.reference) == bytes)
        #expect(body.etag == "\"e\"")
        #expect(body.effectiveURL == front.url("/a"))
        let via = bench.origin.requests("/a").first?.header("via") ?? ""
        #expect(via.hasPrefix(protocols.hasPrefix("h2") ? "2 " : "1.1 "), "\(via)")
    }

    /// Who is refused, and what the words of the error name.
    static let refused: [(SecureFront.Certificate, String)] = [
        (.expired, "expired"), (.external, "subject name"), (.selfSigned, "self-signed"),
    ]

    @Test(arguments: refused) func aCertificateIsRefused(
        _ certificate: SecureFront.Certificate, _ words: String
    ) async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, certificate, of: authority) }, trusting: authority.certificate)
        bench.origin.route("/a", .bytes([1]))
        bench.start(front.url("/a"))
        let failure = try #require(await bench.failure())
        #expect(failure.code == .tlsFailed)
        #expect(failure.message.contains(words), "\(failure.message)")
        #expect(bench.origin.totalRequestCount == 0)
    }

    @Test(arguments: [true, false])
    func anUnknownAuthorityIsRefused(_ namesAnother: Bool) async throws {
        let other = try TestAuthority()
        let (bench, front) = try bench(
            { try SecureFront($0, of: authority) },
            trusting: namesAnother ? other.certificate : nil)
        bench.start(front.url("/a"))
        let failure = try #require(await bench.failure())
        #expect(failure.code == .tlsFailed)
        #expect(failure.message.contains("issuer certificate"), "\(failure.message)")
        #expect(bench.origin.totalRequestCount == 0)
    }

    /// Where a rule leaves the certificate of a host unverified, its image comes all the same; the
    /// connection is nobody else's, and a redirect to another host is verified.
    @Test(arguments: refused.map(\.0)) func anUnverifiedOriginIsAsked(
        _ certificate: SecureFront.Certificate
    ) async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, certificate, of: authority) }, trusting: authority.certificate)
        bench.origin.route("/a", .bytes([1, 2, 3]))
        var terms = TransferTerms()
        terms.isUnverified = true
        bench.start(front.url("/a"), id: 1, terms: terms)
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == [1, 2, 3])
        bench.start(front.url("/a"), id: 2)
        #expect(await bench.outcomes.wait(count: 2)?.last?.failure?.code == .tlsFailed)
        #expect(bench.origin.requestCount("/a") == 1)
    }

    @Test func aRedirectOfAnUnverifiedOriginIsVerified() async throws {
        // At another port it is another origin.
        var second: SecureFront?
        let (bench, front) = try bench(
            {
                second = try SecureFront($0, .expired, of: authority)
                return try SecureFront($0, .selfSigned, of: authority)
            },
            trusting: authority.certificate,
            { if let second { $0.allowedAddresses.append(second.address) } })
        let other = try #require(second)
        // nghttpx puts its own port into a Location of its own host.
        let place = other.url("/to").replacing("127.0.0.1", with: "localhost")
        bench.origin.route("/from", .redirect(to: place))
        bench.origin.route("/here", .redirect(to: front.url("/to")))
        bench.origin.route("/to", .bytes([1]))
        var terms = TransferTerms()
        terms.isUnverified = true
        bench.start(front.url("/from"), id: 1, terms: terms)
        #expect(await bench.failure()?.code == .tlsFailed)
        #expect(bench.origin.requestCount("/to") == 0)
        bench.start(front.url("/here"), id: 2, terms: terms)
        #expect(await bench.outcomes.wait(count: 2)?.last?.body != nil)
    }

    @Test func aRedirectToAnUntrustedOriginIsRefused() async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, .selfSigned, of: authority) }, trusting: authority.certificate)
        bench.origin.route("/from", .redirect(to: front.url("/to")))
        bench.origin.route("/to", .bytes([1]))
        bench.start("/from")
        #expect(await bench.failure()?.code == .tlsFailed)
        #expect(bench.origin.requestCount("/to") == 0)
    }

    @Test func streamsOfOneConnectionEndOneByOne() async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, of: authority) }, trusting: authority.certificate)
        let gate = Gate()
        let packed = try PackedBodies.gzip(RandomBytes.make(1_000_000))
        bench.origin.route("/first", .bytes([1]))
        bench.origin.route("/n/*", .hang(until: gate, then: [1, 2, 3]))
        bench.origin.route(
            "/packed/*",
            .hang(until: gate, then: packed).with(header: "Content-Encoding", "gzip"))
        bench.start(front.url("/first"), id: 99)
        #expect(await bench.outcomes.wait(count: 1)?.first?.body != nil)
        for id in 1...20 {
            bench.start(front.url(id % 2 == 0 ? "/packed/\(id)" : "/n/\(id)"), id: UInt64(id))
        }
        for id in 1...20 {
            #expect(
                await bench.origin.waitForRequest(id % 2 == 0 ? "/packed/\(id)" : "/n/\(id)"))
        }
        bench.downloader.cancel(JobID(3))
        bench.downloader.cancel(JobID(4))
        #expect(
            await bench.outcomes.wait(count: 3)?.dropFirst().map { $0.failure?.code }
                == [.cancelled, .cancelled])
        gate.open()
        let outcomes = try #require(await bench.outcomes.wait(count: 21))
        let bodies = outcomes.filter { $0.id != JobID(99) }.compactMap(\.body)
        #expect(bodies.count == 18)
        #expect(bodies.filter { $0.reference.length == 1_000_000 }.count == 9)
    }

    /// Some are cancelled while bytes of them wait to be decoded: the others of the connection go
    /// on.
    @Test func aCancelledStreamHoldsUpNoOther() async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, of: authority) }, trusting: authority.certificate)
        let gate = Gate()
        let bytes = RandomBytes.make(1_000_000)
        let packed = try PackedBodies.gzip(RandomBytes.make(3_000_000))
        bench.origin.route("/first", .bytes([1]))
        bench.origin.route("/n/*", .hang(until: gate, then: bytes))
        bench.origin.route(
            "/packed/*",
            .hang(until: gate, then: packed)
                .with(header: "Content-Encoding", "gzip"))
        bench.start(front.url("/first"), id: 99)
        #expect(await bench.outcomes.wait(count: 1)?.first?.body != nil)
        for id in 1...20 {
            let path = id % 2 == 0 ? "/packed/\(id)" : "/n/\(id)"
            bench.start(front.url(path), id: UInt64(id))
            #expect(await bench.origin.waitForRequest(path))
        }
        gate.open()
        #expect(await bench.outcomes.wait(count: 2) != nil)
        for id in [4, 8, 12, 16, 20] as [UInt64] { bench.downloader.cancel(JobID(id)) }
        let outcomes = try #require(await bench.outcomes.wait(count: 21))
        for outcome in outcomes where outcome.id.value % 4 != 0 && outcome.id != JobID(99) {
            let isPacked = outcome.id.value % 2 == 0
            #expect(outcome.body?.reference.length == (isPacked ? 3_000_000 : 1_000_000))
        }
        #expect(outcomes.contains { $0.failure?.code == .cancelled }, "some were under way")
    }

    /// What is done for streams that stand still does not save one whose origin says nothing.
    @Test func aSilentOriginIsTooSlowAllTheSame() async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, of: authority) }, trusting: authority.certificate
        ) { $0.lowSpeedSeconds = 2 }
        let gate = Gate()
        bench.origin.route("/n/*", .hang(until: gate, then: [1]))
        for id in 1...2 {
            bench.start(front.url("/n/\(id)"), id: UInt64(id))
            #expect(await bench.origin.waitForRequest("/n/\(id)"))
        }
        bench.downloader.cancel(JobID(1))
        let outcomes = try #require(await bench.outcomes.wait(count: 2))
        #expect(outcomes.map { $0.failure?.code } == [.cancelled, .timedOut])
        gate.open()
    }

    /// Who comes while the first connection is made waits for it.
    @Test func aHundredTransfersShareAConnection() async throws {
        let (bench, front) = try bench(
            { try SecureFront($0, of: authority) }, trusting: authority.certificate)
        let gate = Gate()
        bench.origin.route("/n/*", .hang(until: gate, then: [1, 2, 3]))
        for id in 1...100 { bench.start(front.url("/n/\(id)"), id: UInt64(id)) }
        for id in 1...100 { #expect(await bench.origin.waitForRequest("/n/\(id)")) }
        #expect(Connections.established(to: front.port) == 1)
        gate.open()
        let outcomes = try #require(await bench.outcomes.wait(count: 100))
        let accounts = outcomes.compactMap(\.body?.account)
        #expect(accounts.count == 100)
        #expect(accounts.allSatisfy { $0.httpVersion == "2" && $0.address == front.address })
        #expect(accounts.filter { !$0.isReused }.count == 1)
    }

    @Test func aFileWithoutCertificatesIsNoFileOfCertificates() throws {
        let folder = TemporaryDirectory()
        let text = folder.write(Array("no certificate".utf8), to: "text.pem")
        for path in [text, folder.file("missing.pem"), folder.path] {
            let error = #expect(throws: ImageError.self) {
                try DownloadBench { $0.certificatesFile = path }
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.contains("--ca-file \(path)") == true)
        }
    }
}
