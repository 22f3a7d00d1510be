import ImageModel
import Imagebus
import Messages
import TestKit
import Testing

extension RealProcesses {
    /// Animations that say what nobody can do: each way to ask for one ends with an image or with a
    /// typed error, and no process ends.
    @Suite struct HostileAnimationTests {
        /// A way to ask for an animation.
        private struct Ask: Sendable {
            let name: String
            let change: @Sendable (inout ImageRequest) -> Void
        }

        private static let asks = [
            Ask(name: "still") { $0.output.format = .png },
            Ask(name: "small") {
                $0.steps = [.resize(PixelSize(width: 8, height: 8), .fit)]
                $0.output.format = .jpeg
            },
            Ask(name: "facts") { ($0.infoOnly, $0.facts) = (true, WantedFacts([.animation])) },
            Ask(name: "frame") { ($0.frame, $0.output.format) = (1, .png) },
            Ask(name: "gif") { animate(&$0, .gif) },
            Ask(name: "webp") { animate(&$0, .webp) },
            Ask(name: "png") { animate(&$0, .png) },
            Ask(name: "arriving") { $0.options.insert(.progressiveLoad) },
        ]

        private static func animate(_ request: inout ImageRequest, _ format: ImageFormat) {
            request.options.insert(.transformAnimatedImage)
            request.steps = [.resize(PixelSize(width: 20, height: 20), .fit)]
            request.output.format = format
        }

        @Test func anAnimationThatMeansHarmEndsWithAnImageOrByALimit() async throws {
            let origin = OriginServer()
            let files = try AnimatedFile.hostile()
            for file in files { origin.route("/\(file.name)", .bytes(file.bytes)) }
            try await withStack(decoders: 1) { stack in
                let client = try stack.client()
                let before = Set(stack.children.map(\.processID))
                for file in files {
                    var ends: [String: String] = [:]
                    for ask in Self.asks {
                        var request = ImageRequest(url: origin.url("/\(file.name)"))
                        ask.change(&request)
                        ends[ask.name] = await Self.end(client.load(request))
                    }
                    print("hostile:", file.name, Self.asks.map { "\($0.name) \(ends[$0.name]!)" })
                    #expect(Set(stack.children.map(\.processID)) == before, "\(file.name)")
                }
            }
        }

        private static func end(_ task: LoadTask) async -> String {
            do throws(ImageError) {
                let image = try await task.response
                return image.facts?.animation.map { "\($0.durations.count)×\($0.loops)" } ?? "ok"
            } catch {
                return "\(error.code)"
            }
        }
    }
}
