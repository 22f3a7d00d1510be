public import Model
import Synchronization

/// An animation that a stack decodes frame by frame. The stack keeps no session for it: each frame
/// is a load of its own, which the caches can answer like any other load. Can be used from any
/// thread.
///
///     let image = try await AnimatedImage(request, from: client, as: .pixels)
///     for index in 0..<image.count { draw(try await image.frame(index)) }
///
/// GIF, animated PNG, animated WebP and AVIF sequences have frames. Any other image counts as a
/// single frame with a duration of zero.
public final class AnimatedImage: Sendable {
    /// The request used to load each frame; only the frame number is added to it.
    public let request: ImageRequest
    /// The form in which frames are held.
    public let form: FrameForm
    /// Information about the source. Frames have its size unless the request has steps.
    public let info: ImageInfo
    /// How long each frame is shown (SEMANTICS §11.30). A still image has a single duration of
    /// zero.
    public let durations: [Duration]
    /// SDWebImage's loop count (`AnimationProperties.loops`). 0 means endless, and is also the
    /// value for a still image.
    public let loops: Int
    /// How often all frames are played. 0 means endless, and is also the value for a still image.
    public let plays: Int

    let client: ImagebusClient
    /// The loads in flight: at most one per frame.
    private let loads = Mutex<[Int: FrameLoad]>([:])
    let microseconds: [Int]
    /// Frames held until `unloadFrames` is called.
    let kept = Mutex<[Int: AnimationFrame]>([:])

    /// Loads the durations and the loop count; no frame is decoded yet. The request's `frame`,
    /// `infoOnly`, `properties` and fallback are ignored.
    ///
    /// With `RequestOptions.preloadAllFrames` all frames are loaded as well, within the budget of
    /// `preloadAllFrames(within:)`.
    ///
    /// `storing` restricts the tiers in which the stack stores decoded frames, in addition to what
    /// the request allows. The default is memory only, because decoding a frame again is faster
    /// than keeping many thousands of files. The source is stored as the request specifies.
    ///
    /// Throws the error of that load, and `invalidRequest` if `fromCacheOnly` is set and no cache
    /// has the image.
    public init(
        _ request: ImageRequest, from client: ImagebusClient, as form: FrameForm = .encoded,
        storing tiers: CacheTypes = .memory
    ) async throws(ImageError) {
        let response = try await client.load(Self.question(request)).response
        guard let info = response.info else { throw .noFrameCached }
        (self.request, self.form) = (Self.template(request, form, tiers), form)
        (self.info, self.client) = (info, client)
        let animation = response.properties?.animation
        microseconds = animation.map { $0.durations.map(Int.init) } ?? [0]
        (loops, plays) = (animation?.loops ?? 0, animation?.plays ?? 0)
        durations = microseconds.map { .microseconds($0) }
        if request.options.contains(.preloadAllFrames) { try await preloadAllFrames() }
    }

    /// The number of frames: at least 1, at most `AnimationProperties.framesMax`.
    public var count: Int { durations.count }

    /// Whether there is more than one frame.
    public var isAnimated: Bool { count > 1 }

    /// The estimated memory of one frame before any is loaded, in bytes: four per pixel of the
    /// source.
    var estimatedFrameBytes: Int {
        let (bytes, overflows) = (info.size.area ?? .max).multipliedReportingOverflow(by: 4)
        return overflows ? .max : bytes
    }

    /// Returns one frame: immediately if it is preloaded, otherwise from a load that all concurrent
    /// callers share. Canceling the awaiting task cancels the load unless another caller is
    /// waiting for it.
    ///
    /// Throws `stepFailed` if there is no such frame, and the error of the load.
    public func frame(_ index: Int) async throws(ImageError) -> AnimationFrame {
        guard durations.indices.contains(index) else {
            throw ImageError(
                .stepFailed,
                "frame \(index) does not exist: the image has \(count), numbered from 0")
        }
        if let frame = preloaded(index) { return frame }
        let load = begin(index)
        let ended = await withTaskCancellationHandler {
            await load.work.value
        } onCancel: {
            load.leave()
        }
        return try ended.get()
    }

    /// Returns a frame that `preloadAllFrames` loaded.
    func preloaded(_ index: Int) -> AnimationFrame? { kept.withLock { $0[index] } }

    /// Joins the load of a frame, or begins it.
    func begin(_ index: Int) -> FrameLoad {
        loads.withLock { loads in
            if let known = loads[index], known.join() { return known }
            var request = request
            request.frame = index
            let (task, form, duration) = (client.load(request), form, durations[index])
            let load = FrameLoad(index, task) { (response) throws(ImageError) in
                try AnimationFrame(index, duration, form, response)
            } whenEnded: {
                self.loads.withLock { if $0[index]?.task === task { $0[index] = nil } }
            }
            loads[index] = load
            return load
        }
    }

    /// The request for durations and loop count, sent before any frame is loaded.
    private static func question(_ request: ImageRequest) -> ImageRequest {
        var question = request
        (question.frame, question.thumbnail, question.steps) = (nil, nil, [])
        (question.pixelRatio, question.output) = (1, OutputOptions())
        (question.infoOnly, question.properties) = (true, RequestedProperties([.animation]))
        question.wantsExplanation = false
        question.context.fallback = nil
        return question
    }

    private static func template(
        _ request: ImageRequest, _ form: FrameForm, _ tiers: CacheTypes
    ) -> ImageRequest {
        var template = request
        template.storeCacheTypes.formIntersection(tiers)
        (template.infoOnly, template.properties) = (false, RequestedProperties())
        template.context.fallback = nil
        if form == .pixels { template.output = .pixels }
        return template
    }
}

// Loading all frames at once.
extension AnimatedImage {
    /// The default number of frames loaded concurrently.
    public static let loadsAtATime = 4

    /// Whether every frame is held.
    public var areAllFramesLoaded: Bool { kept.withLock { $0.count == count } }

    /// The total size of the frames held, in bytes.
    public var memoryCost: Int { kept.withLock { $0.values.reduce(0) { $0 + $1.memoryCost } } }

    /// Loads all frames, four at a time, and holds them. Players of this image then don't load or
    /// hold frames themselves.
    ///
    /// Throws `limitExceeded` as soon as the frames exceed the budget, and the error of a frame's
    /// load. In both cases the frames held before are unchanged.
    public func preloadAllFrames(
        within budget: FrameBudget = .automatic
    ) async throws(ImageError) {
        let bytesMax = budget.bytes
        var (frames, bytes) = ([Int: AnimationFrame](), 0)
        try await forEachFrame { frame in
            bytes += frame.memoryCost
            frames[frame.index] = frame
            return bytes <= bytesMax
        }
        guard bytes <= bytesMax else { throw Self.tooLarge(bytesMax) }
        let all = frames
        kept.withLock { $0 = all }
    }

    /// Releases all preloaded frames. Copies that callers hold stay valid.
    public func unloadFrames() { kept.withLock { $0 = [:] } }

    /// Loads all frames, at most `most` at a time, and passes each to `body` as it arrives, one at
    /// a time. Stops when `body` returns false. Throws the error of the first load that fails,
    /// which also stops it. Remaining loads are canceled when it stops or the awaiting task is
    /// canceled.
    public func forEachFrame(
        atATime most: Int = AnimatedImage.loadsAtATime, _ body: (AnimationFrame) -> Bool
    ) async throws(ImageError) {
        let failure = await withTaskGroup(of: FrameLoad.Ended.self) { group -> ImageError? in
            var next = min(max(1, most), count)
            for index in 0..<next { group.addTask { await self.ended(index) } }
            while let ended = await group.next() {
                guard case .success(let frame) = ended, body(frame) else {
                    group.cancelAll()
                    if case .failure(let error) = ended { return error }
                    return nil
                }
                guard next < count else { continue }
                let index = next
                next += 1
                group.addTask { await self.ended(index) }
            }
            return nil
        }
        if let failure { throw failure }
    }

    private func ended(_ index: Int) async -> FrameLoad.Ended {
        do throws(ImageError) {
            return .success(try await frame(index))
        } catch {
            return .failure(error)
        }
    }

    private static func tooLarge(_ bytesMax: Int) -> ImageError {
        ImageError(
            .limitExceeded,
            "the frames exceed a total of \(bytesMax) bytes: play them, which holds only some of "
                + "them, request them encoded or smaller, or raise the preload budget"
        ) { $0.limit = "\(bytesMax)" }
    }
}

/// The form in which an animation's frames are held.
public enum FrameForm: Hashable, Sendable {
    /// Encoded as the request specifies. A frame takes as much memory as its file.
    case encoded
    /// Decoded, four bytes per pixel. Overrides the request's output options: frames are delivered
    /// losslessly in 8-bit sRGB.
    case pixels
}

/// The pixels of one image: 8-bit red, green, blue and straight (not premultiplied) alpha in sRGB,
/// row by row from the top.
public struct FramePixels: Hashable, Sendable {
    /// Width and height in pixels.
    public let size: PixelSize
    /// Four bytes per pixel.
    public let rgba: [UInt8]

    /// Creates pixels from bytes whose count must match the size.
    public init(size: PixelSize, rgba: [UInt8]) {
        precondition(rgba.count == 4 * size.width * size.height, "each pixel must have four bytes")
        (self.size, self.rgba) = (size, rgba)
    }

    /// Copies delivered pixels, to which it adds the samples that they lack.
    init(_ pixels: ImagePixels) {
        let bands = pixels.format.bytesPerPixel
        let count = pixels.size.width * pixels.size.height
        let rgba = withExtendedLifetime(pixels) {
            let samples = pixels.lastingBytes
            return [UInt8](unsafeUninitializedCapacity: 4 * count) { output, filled in
                for index in 0..<count {
                    let (source, target) = (index * bands, index * 4)
                    for channel in 0..<3 {
                        output[target + channel] = samples[source + (bands < 3 ? 0 : channel)]
                    }
                    output[target + 3] = bands % 2 == 0 ? samples[source + bands - 1] : 255
                }
                filled = 4 * count
            }
        }
        self.init(size: pixels.size, rgba: rgba)
    }
}

/// One frame of an animation as displayed: the full canvas.
public struct AnimationFrame: Sendable {
    /// The content of a frame, in the form in which it is held.
    public enum Content: Sendable {
        /// The encoded file and the rest of its response. From 1 MiB on, its bytes are a mapping of
        /// the stack's memory (`ImageBytes`).
        case encoded(ImageResponse)
        /// Decoded pixels.
        case pixels(FramePixels)
    }

    /// The index in the file, starting at 0.
    public let index: Int
    /// How long the frame is shown; zero for a still image.
    public let duration: Duration
    /// The image, encoded or as pixels.
    public let content: Content

    /// The memory of the frame in bytes: four per pixel, or the size of its file.
    public var memoryCost: Int {
        switch content {
        case .encoded(let response): response.bytes?.count ?? 0
        case .pixels(let pixels): pixels.rgba.count
        }
    }

    /// The pixels, or `nil` if the frame is held encoded.
    public var pixels: FramePixels? {
        if case .pixels(let pixels) = content { pixels } else { nil }
    }

    /// The response with the encoded file, or `nil` if the frame is held as pixels.
    public var response: ImageResponse? {
        if case .encoded(let response) = content { response } else { nil }
    }
}

extension AnimationFrame {
    /// Creates a frame from the response to its load. Throws if there is no image or if its pixels
    /// cannot be read.
    init(
        _ index: Int, _ duration: Duration, _ form: FrameForm, _ response: ImageResponse
    ) throws(ImageError) {
        guard response.bytes != nil else { throw .noFrameCached }
        (self.index, self.duration) = (index, duration)
        switch form {
        case .encoded: content = .encoded(response)
        case .pixels:
            guard let pixels = response.pixels else {
                throw ImageError(.badImageData, "the pixels of a frame cannot be read")
            }
            content = .pixels(FramePixels(pixels))
        }
    }
}

extension ImageError {
    /// The error for a cache miss, which an animation cannot represent otherwise.
    static var noFrameCached: ImageError {
        ImageError(
            .invalidRequest,
            "no cache has the image, and fromCacheOnly prevents loading it: load it before, or "
                + "leave that option out")
    }
}

/// A load of a frame in flight, shared by all callers that want the frame. It is canceled when its
/// last caller leaves. Can be used from any thread.
final class FrameLoad: Sendable {
    typealias Ended = Result<AnimationFrame, ImageError>

    let index: Int
    let task: LoadTask
    let work: Task<Ended, Never>
    private let callers = Mutex(1)

    init(
        _ index: Int, _ task: LoadTask,
        read: @escaping @Sendable (ImageResponse) throws(ImageError) -> AnimationFrame,
        whenEnded: @escaping @Sendable () -> Void
    ) {
        (self.index, self.task) = (index, task)
        work = Task.detached {
            defer { whenEnded() }
            do throws(ImageError) {
                return .success(try read(try await task.response))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Adds a caller. Returns false if the last one has left.
    func join() -> Bool {
        callers.withLock { callers in
            if callers > 0 { callers += 1 }
            return callers > 0
        }
    }

    /// Removes a caller; call it once per caller. Has no effect if the load has ended.
    func leave() {
        let isLast = callers.withLock { callers in
            callers -= 1
            return callers == 0
        }
        if isLast { task.cancel() }
    }
}
