package import MicroHTTPD
import Model
import Nettle

/// The modules of `<bus-image>`, which every listener serves under a fixed path. They are embedded
/// in the program, so that it needs no access to files in its sandbox.
package struct StaticFiles: Sendable {
    private let files: [String: File]

    private struct File: Sendable {
        let tag: String
        let bytes: [UInt8]
    }

    /// The path of the component; the modules it imports are in a folder next to it.
    package static let component = "/-/bus-image.js"
    private static let folder = "/-/bus-image/"

    package init() {
        let modules = [
            "animated": PackageResources.animated_js, "choice": PackageResources.choice_js,
            "lanes": PackageResources.lanes_js, "loading": PackageResources.loading_js,
            "pace": PackageResources.pace_js, "places": PackageResources.places_js,
            "player": PackageResources.player_js, "prefetch": PackageResources.prefetch_js,
            "real-image": PackageResources.real_image_js,
            "thumb-hash": PackageResources.thumb_hash_js, "view": PackageResources.view_js,
        ]
        var files = [Self.component: Self.file(PackageResources.bus_image_js)]
        for (name, bytes) in modules { files["\(Self.folder)\(name).js"] = Self.file(bytes) }
        self.files = files
    }

    private static func file(_ bytes: [UInt8]) -> File {
        // `ContentDigest` only fails for the wrong number of bytes.
        let digest = ContentDigest(SHA256.digest(bytes.span.bytes))
        return File(tag: digest.map(ImageAnswer.tag) ?? "", bytes: bytes)
    }

    /// Returns the response for a target, ignoring its query; `nil` if there is no such file.
    package func reply(to target: String, ifNoneMatch: String?) -> HTTPReply? {
        let path = target.prefix { $0 != "?" }
        guard let file = files[String(path)] else { return nil }
        var reply = HTTPReply(headers: Self.fields + [("ETag", file.tag)])
        let conditions = Conditions(ifNoneMatch: ifNoneMatch)
        if conditions.isUnmodified(file.tag) {
            reply.status = 304
        } else {
            reply.headers.append(("Content-Type", "text/javascript; charset=utf-8"))
            reply.body = .bytes(file.bytes)
        }
        return reply
    }

    /// Pages of any site may use the modules. All have the same lifetime, so that after an upgrade
    /// none stays outdated for long.
    private static let fields = [
        (name: "Cache-Control", value: "public, max-age=300, stale-while-revalidate=604800"),
        (name: "Access-Control-Allow-Origin", value: "*"),
        (name: "Cross-Origin-Resource-Policy", value: "cross-origin"),
        (name: "X-Content-Type-Options", value: "nosniff"),
    ]
}

/// The response to `/`, which people open to see whether the server works.
package struct RootPage: Hashable, Sendable {
    /// The name of the grammar: imgproxy, thumbor, imagor, IIIF or weserv.
    package let grammar: String
    /// A valid target without a signature; `nil` if signatures are required.
    package let example: String?
    /// The documentation of the URL syntax in the repository.
    private static let documentation = "Proto/WEB.md"

    /// Returns a page with the example, or, if there is none, a 404 that refers to the
    /// documentation.
    func answer(_ answers: ImageAnswer, asJSON: Bool) -> Answer {
        guard let example else {
            return answers.failure(
                404, "notFound",
                "not found: this server requires signed \(grammar) URLs. Create one with "
                    + "'imagebus url'; \(Self.documentation) of Imagebus describes the syntax",
                asJSON: asJSON)
        }
        var page = answers.sentence(200, "")
        page.fields["Content-Type"] = "text/html; charset=utf-8"
        page.fields["Content-Security-Policy"] = "default-src 'none'"
        page.body = Array(html(example).utf8)
        return page
    }

    private func html(_ example: String) -> String {
        let shown = example.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>Imagebus</title>
            <h1>Imagebus serves \(grammar) URLs</h1>
            <p>Replace the image URL in this example with your own:</p>
            <pre>\(shown)</pre>
            <p><code>imagebus url explain URL</code> explains a URL;
            <code>\(Self.documentation)</code> of Imagebus is the reference.</p>
            </html>

            """
    }
}
