import ImageModel
import Imagebus
import Linux
import Messages
import TestKit
import Testing

extension RealProcesses {
    /// Animations that say what nobody can do: each way to ask for one ends with an image or with a
    /// typed error. No process ends, except a worker that did not heed a cancel within the grace
    /// (SEMANTICS §8.3), as happens to a cancelled preview on a busy machine.
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
            Ask(name: "facts") {
                ($0.infoOnly, $0.properties) = (true, RequestedProperties([.animation]))
            },
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

        /// Of these nothing is shown, however they are asked for.
        private static let refused: [String: ErrorCode] = [
            "many.gif": .limitExceeded, "many.apng": .limitExceeded, "many.webp": .limitExceeded,
            "huge.gif": .limitExceeded, "huge.apng": .limitExceeded, "huge.webp": .limitExceeded,
            "many.avif": .limitExceeded, "claims.avif": .limitExceeded,
        ]

        /// Of these some asks end with an image, and the others so: a sequence that says what
        /// cannot be has one frame at most, and its primary image is another one. A PNG that says
        /// so is a still image.
        private static let partly: [String: ErrorCode] = [
            "claims.apng": .stepFailed,
            "table.avif": .stepFailed, "moov.avif": .stepFailed, "trak.avif": .stepFailed,
            "offset.avif": .stepFailed, "large.avif": .limitExceeded,
            "payload.avif": .badImageData,
        ]

        /// Of these a frame is damaged, and so are all together. These asks end with an image: the
        /// header is good, and what lies behind the still does not matter (SEMANTICS §11.38). The
        /// frame that is asked for by its number is not there.
        private static let damaged: [String: Set<String>] = [
            "outside.webp": ["still", "small", "facts", "arriving"],
            "beyond.webp": ["facts", "arriving"], "length.webp": ["facts", "arriving"],
        ]

        /// Of these what is made at a smaller scale is an image; a frame is beyond the limit.
        private static let large: Set = ["wide.webp", "wide-moving.webp"]
        /// Bytes that a decoder may have taken: two canvases of the most pixels, and some more.
        private static let peakMax: UInt64 = 900 << 20

        /// Of these an image is shown, but not all frames: some are not what the format permits.
        private static let stills: Set = ["outside.apng", "sequence.apng"]

        /// Of these too much is read or composed for all frames, and each alone is shown.
        private static let dear: Set = ["profile.apng", "profile.webp", "dear.gif", "dear.webp"]

        /// What asks for all frames.
        private static let animated: Set = ["gif", "webp", "png"]

        /// How often all frames are shown, where the file says the most that it can.
        private static let loops = [
            "loops.gif": 65_535, "loops.apng": 0xFFFF_FFFF, "loops.webp": 65_535,
        ]

        @Test func anAnimationThatMeansHarmEndsWithAnImageOrByALimit() async throws {
            let origin = OriginServer()
            let files = try AnimatedFile.hostile()
            for file in files { origin.route("/\(file.name)", .bytes(file.bytes)) }
            try await withStack(decoders: 1) { stack in
                let client = try stack.client()
                let status = try stack.client(asOperator: true)
                var before = try await stack.awaitIdle(processes: 5)
                for file in files {
                    for ask in Self.asks {
                        var request = ImageRequest(url: origin.url("/\(file.name)?\(ask.name)"))
                        ask.change(&request)
                        Self.expect(await Self.end(client.load(request)), file.name, ask.name)
                    }
                    let after = try await stack.awaitIdle(processes: 5)
                    let ended = after.restarts - before.restarts
                    let what = "\(file.name): \(LogTail.text(stack.logFile))"
                    #expect(ended == after.hardCancels - before.hardCancels, "\(what)")
                    before = after
                }
                let decoder = try #require(try await status.status().processes(.decode).first)
                let peak = try ProcessMemory.peakBytes(of: Int32(decoder.pid))
                print("hostile: the decoder took \(peak >> 20) MiB")
                #expect(peak <= Self.peakMax)
                try await stack.awaitIdle()
            }
        }

        private static func expect(
            _ end: Result<ImageResponse, ImageError>, _ name: String, _ ask: String
        ) {
            let what = "\(name), \(ask): \(end)"
            switch end {
            case .success(let image):
                #expect(refused[name] == nil, "\(what)")
                #expect(damaged[name]?.contains(ask) ?? true, "\(what)")
                let isStill = stills.contains(name) || dear.contains(name)
                #expect(!(isStill && animated.contains(ask)), "\(what)")
                guard ask == "facts", let loops = loops[name] else { return }
                #expect(image.properties?.animation?.loops == loops, "\(what)")
            case .failure(let error):
                if name.hasSuffix(".avif") {
                    let codes: [ErrorCode] = [.badImageData, .stepFailed, .limitExceeded]
                    return #expect(codes.contains(error.code), "\(what)")
                }
                if large.contains(name) {
                    return #expect(error.code == .limitExceeded, "\(what)")
                }
                if let good = damaged[name] {
                    let code: ErrorCode = ask == "frame" ? .stepFailed : .badImageData
                    return #expect(!good.contains(ask) && error.code == code, "\(what)")
                }
                if let code = refused[name] { return #expect(error.code == code, "\(what)") }
                if let code = partly[name] { return #expect(error.code == code, "\(what)") }
                if dear.contains(name) {
                    return #expect(
                        animated.contains(ask) && error.code == .limitExceeded, "\(what)")
                }
                #expect(stills.contains(name), "\(what)")
                #expect([.badImageData, .stepFailed].contains(error.code), "\(what)")
            }
        }

        private static func end(_ task: LoadTask) async -> Result<ImageResponse, ImageError> {
            do throws(ImageError) {
                return .success(try await task.response)
            } catch {
                return .failure(error)
            }
        }
    }
}
