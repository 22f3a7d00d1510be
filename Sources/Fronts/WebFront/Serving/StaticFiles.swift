import ImageModel
package import MicroHTTPD
import Nettle

/// The modules of `<bus-image>`, which every listener has under one fixed path. They are in the
/// program: nothing has to be found, and a sandbox has nothing to permit.
package struct StaticFiles: Sendable {
    private let files: [String: File]

    private struct File: Sendable {
        let tag: String
        let bytes: [UInt8]
    }

    /// Where the component is; the modules that it is made of are in a folder beside it.
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
        // A digest has as many bytes as one needs.
        let digest = ContentDigest(SHA256.digest(bytes.span.bytes))
        return File(tag: digest.map(ImageAnswer.tag) ?? "", bytes: bytes)
    }

    /// The answer to a target, whatever its query is; `nil` where no file is there.
    package func reply(to target: String, ifNoneMatch: String?) -> HTTPReply? {
        let path = target.prefix { $0 != "?" }
        guard let file = files[String(path)] else { return nil }
        var reply = HTTPReply(headers: Self.fields + [("ETag", file.tag)])
        let conditions = Conditions(ifNoneMatch: ifNoneMatch, ifRange: nil, range: nil)
        if conditions.isUnmodified(file.tag) {
            reply.status = 304
        } else {
            reply.headers.append(("Content-Type", "text/javascript; charset=utf-8"))
            reply.body = .bytes(file.bytes)
        }
        return reply
    }

    /// Pages of any site may use it. All modules are asked for again at the same time, so that none
    /// lags behind the others for long after an upgrade.
    private static let fields = [
        (name: "Cache-Control", value: "public, max-age=300, stale-while-revalidate=604800"),
        (name: "Access-Control-Allow-Origin", value: "*"),
        (name: "Cross-Origin-Resource-Policy", value: "cross-origin"),
        (name: "X-Content-Type-Options", value: "nosniff"),
    ]
}
