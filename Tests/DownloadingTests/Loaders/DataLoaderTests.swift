import Downloading
import Model
import TestKit
import Testing

/// Bytes in the URL itself (RFC 2397).
@Suite struct DataLoaderTests {
    @Test(arguments: [
        // The examples of the RFC.
        ("data:,A%20brief%20note", "text/plain;charset=US-ASCII", "A brief note"),
        (
            "data:text/plain;charset=iso-8859-7,%be%fg%be".replacing("%fg", with: "%66"),
            "text/plain;charset=iso-8859-7", ""
        ),
        ("data:image/svg+xml,%3Csvg/%3E", "image/svg+xml", "<svg/>"),
        ("data:image/png;base64,Zm9vYg==", "image/png", "foob"),
        ("DATA:image/png;BASE64,Zm9vYmE%3D", "image/png", "fooba"),
        ("data:;base64,Zm9v", "text/plain;charset=US-ASCII", "foo"),
        ("data:image/png;name=a;base64,Zg%3d%3D", "image/png;name=a", "f"),
        ("data:,a,b;base64,c", "text/plain;charset=US-ASCII", "a,b;base64,c"),
        ("data:;base64,,", "", ""),
    ]) func bytesAreThoseOfTheURL(url: String, type: String, text: String) async throws {
        let bench = try DownloadBench()
        bench.start(url, loader: .data)
        guard !type.isEmpty else {
            #expect(await bench.failure()?.code == .invalidURL)
            return
        }
        let body = try #require(await bench.body())
        #expect(body.contentType == type)
        let bytes = bench.space.bytes(body.reference)
        #expect(text.isEmpty ? bytes == [0xBE, 0x66, 0xBE] : bytes == Array(text.utf8))
        #expect(body.effectiveURL == "data:", "the content is left out")
    }

    /// Encoded by Python, for each length modulo three.
    @Test func whatOthersEncodeIsDecoded() async throws {
        let script = """
            import base64, random, urllib.parse
            random.seed(7)
            for n in range(1, 100):
                b = random.randbytes(n)
                text = base64.b64encode(b).decode()
                print(b.hex(), urllib.parse.quote(text, safe='') if n % 2 else text)
            """
        let lines = String(decoding: try Tool.run(["python3", "-c", script]), as: UTF8.self)
            .split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.count == 99)
        let bench = try DownloadBench()
        for (index, line) in lines.enumerated() {
            bench.start("data:image/png;base64,\(line[1])", id: UInt64(index + 1), loader: .data)
            let outcome = try #require(await bench.outcomes.wait(count: index + 1)?.last)
            let bytes = try #require(outcome.body.flatMap { bench.space.bytes($0.reference) })
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(hex == line[0])
        }
    }

    @Test func limitsHold() async throws {
        let bench = try DownloadBench { $0.accepted.types = ["image/*"] }
        bench.start("data:image/png,123456", id: 1, bodyBytesMax: 6, loader: .data)
        bench.start("data:image/png,1234567", id: 2, bodyBytesMax: 6, loader: .data)
        bench.start("data:text/html,1", id: 3, loader: .data)
        let start = "data:image/png,"
        let count = RequestLimits.urlBytesMax - start.utf8.count
        bench.start(start + String(repeating: "x", count: count), id: 4, loader: .data)
        bench.start(start + String(repeating: "x", count: count + 1), id: 5, loader: .data)
        let outcomes = try #require(await bench.outcomes.wait(count: 5))
        let codes = outcomes.sorted { $0.id.value < $1.id.value }.map { $0.failure?.code }
        #expect(
            codes == [nil, .limitExceeded, .invalidDownloadContentType, nil, .invalidURL])
    }
}
