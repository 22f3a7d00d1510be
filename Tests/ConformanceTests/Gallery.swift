import Imagebus
import Model
import StackKit
import TestKit
import Testing

/// An origin with an image on every path, and functions to delay it.
struct Gallery {
    let origin = OriginServer()
    /// 200 by 150 pixels.
    let image: [UInt8]

    init() throws {
        image = try Images.waves(width: 200, height: 150).jpeg(quality: 80)
        origin.route("/*", .bytes(image, contentType: "image/jpeg"))
    }

    func url(_ path: String) -> String { origin.url(path) }

    /// Makes the path send its head at once, and its body when the gate opens.
    func hold(_ path: String, until gate: Gate) -> String {
        origin.route(path, .hangBody(until: gate, then: image))
        return url(path)
    }
}

extension StackHarness {
    /// The output of `imagebus cache contains` for a key.
    func tiers(_ key: String, _ more: [String] = []) throws -> String {
        let end = try run(["cache", "contains", key] + more)
        return end.exitStatus == 0 ? String(end.outputText.dropLast()) : "\(end)"
    }

    /// The output of `imagebus get --json` for a URL.
    func answer(_ url: String, _ more: [String] = []) throws -> JSONValue {
        try get([url, "--json"] + more).json()
    }

    /// Waits until no transfer is queued or running.
    func awaitNoTransfers() async throws {
        _ = try await awaitStatus("no transfers") { report in
            report.stages.contains { $0.stage == "fetch" && $0.queued == 0 && $0.running == 0 }
        }
    }
}
