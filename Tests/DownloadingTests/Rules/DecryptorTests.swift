import Downloading
import Model
import TestKit
import Testing

/// Bodies produced by Python with `cryptography` (which has its own OpenSSL binding), gzip and
/// base64.
@Suite struct DecryptorTests {
    private let key = [UInt8](0..<32)
    private let plain = OriginBody.generatedBytes(count: 3_000_000)

    /// Processes the bytes with a Python script.
    private func python(_ script: String, _ bytes: [UInt8]) throws -> [UInt8] {
        let head = "import base64, gzip, os, sys\nb = sys.stdin.buffer.read()\n"
        return try Tool.run(
            ["python3", "-c", head + "sys.stdout.buffer.write(\(script))"], input: bytes)
    }

    /// Nonce, ciphertext and tag under `key`.
    private func encrypted(_ bytes: [UInt8]) throws -> [UInt8] {
        try PackedBodies.sealed(bytes)
    }

    private func fetch(
        _ body: [UInt8], _ decryptors: [Decryptor], bodyBytesMax: UInt64 = 1 << 30,
        behavior: (OriginBehavior) -> OriginBehavior = { $0 }
    ) async throws -> (bench: DownloadBench, outcome: JobOutcome?) {
        let bench = try DownloadBench()
        bench.origin.route("/a", behavior(.bytes(body)))
        var terms = TransferTerms()
        terms.decryptors = decryptors
        bench.start("/a", bodyBytesMax: bodyBytesMax, terms: terms)
        return (bench, await bench.outcome())
    }

    private func expect(_ bytes: [UInt8], of body: [UInt8], _ decryptors: [Decryptor]) async throws
    {
        let (bench, outcome) = try await fetch(body, decryptors)
        let fetched = try #require(outcome?.body, "\(String(describing: outcome))")
        #expect(bench.space.bytes(fetched.reference) == bytes)
        #expect(bench.space.liveCount == 1)
    }

    @Test(arguments: [1, 15, 16, 17, 70_000, 3_000_000])
    func aBodyOfAnotherMakerIsDecrypted(_ count: Int) async throws {
        let bytes = Array(plain[..<count])
        try await expect(bytes, of: encrypted(bytes), [.aes256GCM(key: key)])
    }

    @Test(arguments: [1, 2, 3, 4, 5, 70_000, 3_000_000])
    func base64IsDecoded(_ count: Int) async throws {
        let bytes = Array(plain[..<count])
        let lines = "base64.encodebytes(b).replace(b'\\n', b'\\r\\n *')"
        try await expect(bytes, of: try python("base64.b64encode(b)", bytes), [.base64])
        try await expect(bytes, of: try python(lines, bytes), [.base64])
    }

    @Test func gzipIsDecodedInSeveralStreams() async throws {
        let body = try python("gzip.compress(b[:99]) + gzip.compress(b[99:])", plain)
        try await expect(plain, of: body, [.gzip])
    }

    /// Applied one after the other, in the order of the rule.
    @Test func decryptorsFollowOneAnother() async throws {
        let packed = try encrypted(try python("gzip.compress(b)", plain))
        let body = try python("base64.b64encode(b)", packed)
        try await expect(plain, of: body, [.base64, .aes256GCM(key: key), .gzip])
    }

    @Test(arguments: [0, 11, 12, 40, 69_999])
    func aChangedByteIsRefused(_ place: Int) async throws {
        var body = try encrypted(Array(plain[..<70_000]))
        body[place] ^= 1
        let (bench, outcome) = try await fetch(body, [.aes256GCM(key: key)])
        #expect(outcome?.failure?.code == .badImageData)
        #expect(outcome?.failure?.message.contains("authentication failed") == true)
        #expect(bench.space.liveCount == 0)
    }

    /// Bodies that the decryptor can't decrypt.
    @Test(
        arguments: [
            (Array("no gzip".utf8), Decryptor.gzip), ([31, 139, 8], .gzip),
            (Array("QUJ".utf8) + [61] + Array("QQ".utf8), .base64), (Array("Q".utf8), .base64),
            (Array(repeating: 1, count: 27), .aes256GCM(key: [UInt8](0..<32))),
            (Array(repeating: 1, count: 28), .aes256GCM(key: [UInt8](0..<32))),
            (Array("****".utf8), .base64),
        ] as [([UInt8], Decryptor)])
    func anotherBodyIsRefused(_ body: [UInt8], _ decryptor: Decryptor) async throws {
        let (bench, outcome) = try await fetch(body, [decryptor])
        #expect(outcome?.failure?.code == .badImageData, "\(String(describing: outcome))")
        #expect(bench.space.liveCount == 0)
    }

    @Test func anotherKeyIsRefused() async throws {
        let (_, outcome) = try await fetch(
            try encrypted(plain), [.aes256GCM(key: Array(repeating: 7, count: 32))])
        #expect(outcome?.failure?.code == .badImageData)
    }

    /// Sixteen MiB from a few KB.
    @Test func aBombEndsAtTheLimit() async throws {
        let body = try PackedBodies.zeros(mebibytes: 64)
        let (bench, outcome) = try await fetch(body, [.gzip], bodyBytesMax: 1 << 20)
        #expect(outcome?.failure?.code == .limitExceeded)
        #expect(bench.space.liveCount == 0)
    }

    /// The rest is requested before decryption.
    @Test func aBodyThatBrokeOffIsDecryptedWhole() async throws {
        let body = try encrypted(plain)
        let (bench, outcome) = try await fetch(body, [.aes256GCM(key: key)]) { _ in
            OriginBehavior { request in
                let range = request.header("range").flatMap { Int($0.dropFirst(6).dropLast()) }
                var response = OriginResponse(
                    Array(body[(range ?? 0)...]), status: range == nil ? 200 : 206)
                response.headers.append(("ETag", "\"e\""))
                if let range {
                    let part = "bytes \(range)-\(body.count - 1)/\(body.count)"
                    response.headers.append(("Content-Range", part))
                } else {
                    response.closesAfter = 1_000_000
                }
                return response
            }
        }
        let fetched = try #require(outcome?.body, "\(String(describing: outcome))")
        #expect(fetched.account?.continuations == 1)
        #expect(bench.space.bytes(fetched.reference) == plain)
    }
}
