import Glibc
import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Progress and partial images while bytes arrive (SEMANTICS §2.11).
    @Suite struct ProgressiveCases {
        private let origin = OriginServer()
        /// A busy machine needs a long time per partial image, and then pauses for three times as
        /// long.
        private static let timeoutMilliseconds = 120_000

        private func serve(_ path: String, _ bytes: [UInt8]) -> Arrival {
            Arrival(of: bytes, at: path, from: origin)
        }

        /// Loads the image until `count` partial images and `pageCounts` different frame counts
        /// have been delivered, and then the rest. More bytes arrive with each partial image.
        private func load(
            _ request: ImageRequest, showing count: Int, pageCounts: Int = 0,
            of arrival: Arrival, after percent: Int = 28
        ) async throws -> Story {
            var request = request
            request.options.insert(.progressiveLoad)
            request.timeoutMilliseconds = Self.timeoutMilliseconds
            arrival.letCome(percent: percent)
            let task = try SharedStack.current.client().load(request, wantsInfo: true)
            var story = Story()
            for await event in task.events {
                let shown = story.partials.count
                story.record(event)
                if story.partials.count >= count, story.pageCounts.count >= pageCounts {
                    arrival.letCome(percent: 100)
                } else if story.partials.count > shown {
                    arrival.letCome(percent: 12)
                }
            }
            return story
        }

        @Test(arguments: ["scans.jpg", "rows.jpg", "rows.png", "passes.png", "lossy.webp"])
        func case029_whatHasArrivedIsShownBeforeTheImage(name: String) async throws {
            let bytes = try Photograph.file(name)
            let arrival = serve("/\(name)", bytes)
            let story = try await load(ImageRequest(url: arrival.url), showing: 4, of: arrival)
            let image = try #require(try story.end?.get())
            #expect(image.bytes?.array == bytes && image.arrivedBytes == nil)
            #expect(story.partials.count >= 3)
            let arrived = story.partials.map { $0.arrivedBytes ?? 0 }
            #expect(arrived == arrived.sorted() && Set(arrived).count == arrived.count)
            #expect((arrived.first ?? 0) < UInt64(bytes.count * 3 / 10), "\(arrived)")
            #expect((arrived.last ?? 0) < UInt64(bytes.count), "\(arrived)")
            let whole = try Pixels(decoding: bytes)
            let likeness = try story.partials.map { partial in
                #expect(partial.info?.format == image.info?.format)
                let pixels = try Pixels(decoding: #require(partial.bytes).array)
                #expect(pixels.size == whole.size)
                return pixels.likeness(to: whole)
            }
            #expect(likeness == likeness.sorted(), "\(likeness)")
            #expect((likeness.last ?? 0) > (likeness.first ?? 0), "\(likeness)")
            #expect(origin.requestCount("/\(name)") == 1)
        }

        @Test(arguments: ["scans.jpg", "rows.jpg", "rows.png", "lossy.webp"])
        func theHeaderIsToldBeforeATenthOfTheBytes(name: String) async throws {
            let bytes = try Photograph.file(name)
            let arrival = serve("/header-\(name)", bytes)
            arrival.letCome(percent: 8)
            let task = try SharedStack.current.client().load(
                ImageRequest(url: arrival.url), wantsInfo: true)
            var story = Story()
            for await event in task.events {
                story.record(event)
                if !story.infos.isEmpty { arrival.letCome(percent: 100) }
            }
            let info = try #require(story.infos.first)
            #expect(info.size == PixelSize(width: 640, height: 480))
            #expect(story.infoArrived < UInt64(bytes.count / 10), "\(story.infoArrived)")
            #expect(story.partials.isEmpty, "none was requested")
            #expect(try story.end?.get().info?.size == info.size)
        }

        @Test func partialImagesAreScaledDownAsTheWholeOneIs() async throws {
            let bytes = try Images.waves(width: 1_000, height: 1_000)
                .jpeg(quality: 90, progressive: true)
            let arrival = serve("/scaled.jpg", bytes)
            var request = ImageRequest(url: arrival.url)
            let limit = try ContextSetting(.imageScaleDownLimitBytes, "\(500 * 500 * 4)")
            ContextSetting.apply([limit], to: &request)
            let story = try await load(request, showing: 2, of: arrival)
            #expect(story.partials.count >= 2)
            for image in story.partials + [try #require(try story.end?.get())] {
                #expect(image.info?.size == PixelSize(width: 500, height: 500))
            }
        }

        @Test func case044_partialImagesAreOfTheStepsOfTheirOwnLoad() async throws {
            let bytes = try Photograph.file("scans.jpg")
            let arrival = serve("/steps.jpg", bytes)
            arrival.letCome(percent: 60)
            let url = arrival.url
            let client = try SharedStack.current.client()
            let sides = [64, 100]
            let shown = Recorder<Int>()
            let stories = try await withThrowingTaskGroup(of: (Int, Story).self) { group in
                for side in sides {
                    group.addTask {
                        var request = ImageRequest(url, fit: side)
                        request.output.format = .webp
                        request.options = .progressiveLoad
                        request.timeoutMilliseconds = Self.timeoutMilliseconds
                        var story = Story()
                        for await event in client.load(request).events {
                            story.record(event)
                            if story.partials.count == 1 { shown.append(side) }
                            if Set(shown.values).count == sides.count {
                                arrival.letCome(percent: 100)
                            }
                        }
                        return (side, story)
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for side in sides {
                let story = try #require(stories[side])
                #expect(story.partials.count >= 1)
                for image in story.partials + [try #require(try story.end?.get())] {
                    #expect(image.info?.size.width == side && image.info?.format == .webp)
                }
            }
            #expect(origin.requestCount("/steps.jpg") == 1)
        }

        @Test(arguments: ["kept.gif", "mixed.apng", "mixed.webp"])
        func case099_theFramesOfAnAnimationGrowAsItArrives(name: String) async throws {
            let file = try AnimatedFile(generated: name)
            let arrival = serve("/\(name)", file.bytes)
            let request = ImageRequest(url: arrival.url)
            // Half of the file arrives; the rest waits until a partial image of it has been
            // delivered and the number of frames has increased.
            let story = try await load(
                request, showing: 1, pageCounts: 2, of: arrival, after: 50)
            let early = try #require(story.partials.first?.arrivedBytes)
            #expect(early < UInt64(file.bytes.count) * 3 / 4)
            let pages = story.infos.map(\.pages)
            #expect((1..<file.frames.count).contains(try #require(pages.first)), "\(pages)")
            #expect(pages == pages.sorted() && story.pageCounts.count > 1, "\(pages)")
            #expect(pages.allSatisfy { $0 <= file.frames.count })
            #expect(try story.end?.get().info?.pages == file.frames.count)
            #expect(!story.partials.isEmpty)
        }

        /// Partial images aren't found by other loads, and a hit has none.
        @Test func whatIsPartialIsNotKept() async throws {
            let bytes = try Photograph.file("scans.jpg")
            let arrival = serve("/kept.jpg", bytes)
            let request = ImageRequest(arrival.url, fit: 80)
            let first = try await load(request, showing: 2, of: arrival)
            let produced = try #require(try first.end?.get())
            let second = try await load(request, showing: 0, of: arrival)
            let found = try #require(try second.end?.get())
            #expect(second.partials.isEmpty && found.cacheType == .memory)
            #expect(found.bytes?.array == produced.bytes?.array)
        }

        @Test func aCancelAfterAPartialImageEndsAllWork() async throws {
            let stack = try SharedStack.current
            let bytes = try Photograph.file("scans.jpg")
            let arrival = serve("/cancelled.jpg", bytes)
            arrival.letCome(percent: 50)
            var request = ImageRequest(arrival.url, fit: 300)
            request.options = .progressiveLoad
            request.timeoutMilliseconds = Self.timeoutMilliseconds
            let task = try stack.client().load(request)
            var story = Story()
            for await event in task.events {
                story.record(event)
                if !story.partials.isEmpty { task.cancel() }
            }
            let shown = story.partials.count
            #expect(shown >= 1)
            guard case .failure(let error) = story.end else {
                Issue.record("it ended well")
                return
            }
            #expect(error.code == .cancelled)
            _ = try await stack.awaitIdle()
            #expect(origin.requestCount("/cancelled.jpg") == 1)
        }

        @Test func theCommandWritesThemAsFiles() async throws {
            let bytes = try Photograph.file("scans.jpg")
            let arrival = serve("/files.jpg", bytes)
            let url = arrival.url
            let folder = TemporaryDirectory()
            let stack = try SharedStack.current
            let run = try stack.startGet([
                url, "--partials", folder.file("so-far"), "--resize", "200x200", "--json", "-o",
                folder.file("whole.jpg"), "--timeout", "\(Self.timeoutMilliseconds)ms",
            ])
            for number in 1...3 {
                arrival.letCome(percent: 28)
                let file = folder.file("so-far/partial-000\(number).jpg")
                _ = try await stack.awaitStatus("a partial image") { _ in
                    FileBytes.read(file) != nil
                }
            }
            arrival.letCome(percent: 100)
            let end = try run.end()
            #expect(end.exitStatus == 0, "\(end)")
            let partials = try #require(try end.json()["partials"])
            let files = try #require(partials["files"]?.array)
            #expect(files.count >= 3)
            for file in files {
                #expect(file["width"]?.integer == 200 && (file["arrived"]?.integer ?? 0) > 0)
                let path = try #require(file["file"]?.text)
                #expect(try Pixels(decoding: #require(FileBytes.read(path))).size == "200x150")
            }
            #expect((partials["infoArrived"]?.integer ?? 0) > 0)
            // A hit has no partial images or progress, but its result has every field.
            let hit = try stack.get([
                url, "--partials", folder.file("none"), "--resize", "200x200", "--json",
            ]).json()["partials"]
            #expect(hit?["infoArrived"] == .null && hit?["infoMilliseconds"] == .null)
            #expect(hit?["files"]?.array?.isEmpty == true)
            #expect(FileBytes.read(folder.file("whole.jpg")) != nil)
        }
    }
}

/// The bytes of an origin, which arrive in fifty steps controlled by the test.
private final class Arrival: Sendable {
    let url: String
    private let turnstile = Turnstile()
    private let chunk: Int
    private static let steps = 50
    /// No partial image is made for fewer new bytes, except for the last ones (SEMANTICS §2.11).
    private static let growth = 1_024

    init(of bytes: [UInt8], at path: String, from origin: OriginServer) {
        url = origin.url(path)
        chunk = (bytes.count + Self.steps - 1) / Self.steps
        origin.route(path, .stepped(bytes, chunk: chunk, by: turnstile))
    }

    /// Lets `percent` percent of the bytes arrive in addition to the previous ones; for a small
    /// file as many as a new partial image needs.
    func letCome(percent: Int) {
        let growth = (Self.growth + chunk - 1) / chunk
        turnstile.admit(max(Self.steps * percent / 100, growth))
    }
}

/// The events of a load before its end, and its end.
private struct Story {
    var infos: [ImageInfo] = []
    /// The number of bytes that had arrived when the header was reported.
    var infoArrived: UInt64 = 0
    var partials: [ImageResponse] = []
    var end: Result<ImageResponse, ImageError>?
    /// The distinct numbers of pages reported.
    var pageCounts: Set<Int> { Set(infos.map(\.pages)) }

    mutating func record(_ event: LoadEvent) {
        switch event {
        case .progress(let progress):
            if progress.info != nil, infoArrived == 0 { infoArrived = progress.received }
        case .info(let info): infos.append(info)
        case .partial(let image): partials.append(image)
        case .cached: break
        case .end(let result): end = result
        }
    }
}

/// One image of 640 by 480 pixels as several files.
private enum Photograph {
    static func file(_ name: String) throws -> [UInt8] {
        let pixels = Images.waves(width: 640, height: 480)
        return switch name {
        case "scans.jpg": try pixels.jpeg(quality: 90, progressive: true)
        case "rows.jpg": try pixels.jpeg(quality: 90)
        case "rows.png": try pixels.png()
        case "passes.png": try pixels.png(interlaced: true)
        // In a smooth image the first partition, which has no pixels, would be a quarter of the
        // file.
        default: try Images.noise(width: 640, height: 480, seed: 29).webp(quality: 90)
        }
    }
}

extension Pixels {
    /// The similarity (PSNR) in decibels, over the samples that both images have.
    fileprivate func likeness(to other: Pixels) -> Double {
        var sum = 0.0
        let common = Swift.min(bands, other.bands)
        for pixel in 0..<(width * height) {
            for band in 0..<common {
                let difference =
                    Double(samples[pixel * bands + band])
                    - Double(other.samples[pixel * other.bands + band])
                sum += difference * difference
            }
        }
        let mean = Swift.max(sum / Double(width * height * common), 0.01)
        return 10 * log10(255 * 255 / mean)
    }
}
