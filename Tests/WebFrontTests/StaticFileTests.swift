import MicroHTTPD
import TestKit
import Testing

@testable import WebFront

/// The modules of the web component; `scripts/test-web` uses them in a browser.
@Suite struct StaticFileTests {
    private let files = StaticFiles()

    private func field(_ reply: HTTPReply, _ name: String) -> String? {
        reply.headers.first { $0.name == name }?.value
    }

    private func body(_ reply: HTTPReply) -> [UInt8]? {
        if case .bytes(let bytes) = reply.body { return bytes }
        return nil
    }

    @Test func theComponentIsTheFileOfTheSources() throws {
        let reply = try #require(files.reply(to: StaticFiles.component, ifNoneMatch: nil))
        let path = RepositoryRoot.file("Sources/Fronts/WebFront/Component/bus-image.js")
        #expect(reply.status == 200)
        #expect(body(reply) == FileBytes.read(path))
        #expect(field(reply, "Content-Type") == "text/javascript; charset=utf-8")
        #expect(field(reply, "Access-Control-Allow-Origin") == "*")
        #expect(field(reply, "X-Content-Type-Options") == "nosniff")
    }

    @Test func whoHasItGetsNoBytes() throws {
        let path = "/-/bus-image/view.js?version=2"
        let first = try #require(files.reply(to: path, ifNoneMatch: nil))
        let tag = try #require(field(first, "ETag"))
        let again = try #require(files.reply(to: path, ifNoneMatch: "\"other\", \(tag)"))
        #expect(again.status == 304 && body(again) == [])
        #expect(field(again, "ETag") == tag && field(again, "Content-Type") == nil)
        let other = try #require(files.reply(to: path, ifNoneMatch: "\"other\""))
        #expect(other.status == 200)
        #expect(files.reply(to: StaticFiles.component, ifNoneMatch: tag)?.status == 200)
    }

    @Test(arguments: [
        "/-/", "/-/bus-image", "/-/bus-image.d.ts", "/-/bus-image/", "/-/bus-image/../bus-image.js",
        "//-/bus-image.js", "/-/bus-image.js/", "/-/bus-image%2Ejs", "", "?",
    ])
    func nothingElseIsThere(target: String) {
        #expect(files.reply(to: target, ifNoneMatch: nil) == nil)
    }
}
