import Downloading
import Model
import TestKit
import Testing

/// A body may have exactly as many bytes as its limit, however it arrives. The limit applies to the
/// delivered bytes: decoded, decrypted, and with all ranges combined.
@Suite struct BodyLimitTests {
    enum Way: CaseIterable, Sendable {
        case announced, chunked, untilClose, inParts, coded, decrypted
    }

    private static let bytes = OriginBody.generatedBytes(count: 100_000)

    private static func answer(_ way: Way) throws -> OriginBehavior {
        switch way {
        case .announced: .bytes(bytes)
        case .chunked: .chunked(bytes)
        case .untilClose: .bytes(bytes).changed { $0.length = .untilClose }
        case .inParts: inParts
        case .coded: try packed.with(header: "Content-Encoding", "gzip")
        case .decrypted: try packed
        }
    }

    private static var packed: OriginBehavior {
        get throws { .bytes(try PackedBodies.gzip(bytes)) }
    }

    /// The first half without a total length, then the second half.
    private static var inParts: OriginBehavior {
        OriginBehavior { request in
            var response = OriginResponse(Self.bytes)
            if request.header("range") == "bytes=50000-" {
                response = OriginResponse(Array(Self.bytes[50_000...]), status: 206)
                response.headers.append(("Content-Range", "bytes 50000-99999/100000"))
            } else {
                (response.length, response.closesAfter) = (.chunked, 50_000)
            }
            response.headers.append(("ETag", "\"e\""))
            return response
        }
    }

    @Test(arguments: Way.allCases) func aBodyMayHaveExactlyItsLimit(_ way: Way) async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a", try Self.answer(way))
        var terms = TransferTerms()
        if way == .decrypted { terms.decryptors = [.gzip] }
        bench.start("/a", id: 1, bodyBytesMax: 100_000, terms: terms)
        let outcome = try #require(await bench.outcome())
        let body = try #require(outcome.body, "\(outcome)")
        #expect(bench.space.bytes(body.reference) == Self.bytes)
        bench.start("/a", id: 2, bodyBytesMax: 99_999, terms: terms)
        let failure = try #require(await bench.outcomes.wait(count: 2)?.last?.failure)
        #expect(failure.code == .limitExceeded, "\(failure)")
        #expect(failure.details["limit"] == "99999")
        #expect(bench.space.liveCount == 1, "the first one alone")
    }
}
