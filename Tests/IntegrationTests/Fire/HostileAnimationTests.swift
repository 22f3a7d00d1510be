extension RealProcesses {
    /// Animations with impossible properties: each kind of request ends with an image or with a
    /// typed error. No process ends, except a worker that didn't obey a cancel within the grace
    /// period (SEMANTICS §8.3), which may happen to a canceled preview on a busy machine.
    @Suite struct HostileAnimationTests {
        /// A kind of request for an animation.
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

        /// Files for which every request fails with this error.
        private static let refused: [String: ErrorCode] = [
            "many.gif": .limitExceeded, "many.apng": .limitExceeded, "many.webp": .limitExceeded,
            "huge.gif": .limitExceeded, "huge.apng": .limitExceeded, "huge.webp": .limitExceeded,
            "many.avif": .limitExceeded, "claims.avif": .limitExceeded,
        ]

        /// Files for which some requests succeed and the others fail with this error: a sequence
        /// with impossible properties has at most one frame, and its primary image is a different
        /// one. A PNG with impossible properties is a still image.
        private static let partly: [String: ErrorCode] = [
            "claims.apng": .stepFailed,
            "table.avif": .stepFailed, "moov.avif": .stepFailed, "trak.avif": .stepFailed,
            "offset.avif": .stepFailed, "large.avif": .limitExceeded,
            "payload.avif": .badImageData,
        ]

        /// Files with a damaged frame, which also fail as animations. The listed requests succeed
        /// nevertheless: the header is valid, and data after the still image doesn't matter
        /// (SEMANTICS §11.38). The frame requested by its index can't be decoded.
        private static let damaged: [String: Set<String>] = [
            "outside.webp": ["still", "small", "facts", "arriving"],
            "beyond.webp": ["facts", "arriving"], "length.webp": ["facts", "arriving"],
        ]

        /// Files whose smaller versions succeed; a full frame exceeds the limit.
        private static let large: Set = ["wide.webp", "wide-moving.webp"]
        /// The memory limit of a decoder in bytes: two canvases of the maximum size, with a margin.
        private static let peakMax: UInt64 = 900 << 20

        /// Files that are decoded as a still image, but not with all frames: some frames violate
        /// the format.
        private static let stills: Set = ["outside.apng", "sequence.apng"]

        /// Files whose frames together need too much data or composition, while each single frame
        /// succeeds.
        private static let dear: Set = ["profile.apng", "profile.webp", "dear.gif", "dear.webp"]

        /// The requests for all frames.
        private static let animated: Set = ["gif", "webp", "png"]

        /// The loop count for files with the maximum loop count of their format.
        private static let loops = [
            "loops.gif": 65_535, "loops.apng": 0xFFFF_FFFF, "loops.webp": 65_535,
        ]

        @Test func anAnimationThatMeansHarmEndsWithAnImageOrByALimit() async throws {
            let origin = OriginServer()
            let files = try AnimatedFile.hostile()
            for file in files { origin.route("/\(file.name)", .bytes(file.bytes)) }
            try await withClient(decoders: 1) { stack, client in
                let status = try stack.operatorClient()
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
