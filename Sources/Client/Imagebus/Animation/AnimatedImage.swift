import Animation
public import ImageModel
import Messages
import Synchronization

/// An animation that a stack plays out frame by frame. It has no session there: each frame is a
/// load of its own, which the caches answer like any other. Any thread.
///
///     let image = try await AnimatedImage(request, from: client, as: .pixels)
///     for index in 0..<image.count { draw(try await image.frame(index)) }
///
/// GIF, animated PNG, animated WebP and AVIF sequences have frames; any other image is one frame of
/// no duration.
public final class AnimatedImage: Sendable {
    /// What each frame is loaded with, but for its number.
    public let request: ImageRequest
    /// As what frames are held.
    public let form: FrameForm
    /// The source; frames have its size unless the request has steps.
    public let info: ImageInfo
    /// How long each frame is shown (SEMANTICS §11.30); of a still image one of zero.
    public let durations: [Duration]
    /// SDWebImage's loop count (`AnimationFacts.loops`), 0: without end; 0 of a still image too.
    public let loops: Int
    /// How often all frames are played, 0: without end; 0 of a still image too.
    public let plays: Int

    let client: ImagebusClient
    let loads = FrameLoads()
    let microseconds: [Int]
    /// Frames that are held until `unloadFrames`.
    let kept = Mutex<[Int: AnimationFrame]>([:])

    /// Asks for durations and loops; no frame is decoded yet. The request's `frame`, `infoOnly`,
    /// `facts` and fallback count for nothing.
    ///
    /// Under `RequestOptions.preloadAllFrames` all frames are loaded as well, within the budget of
    /// `preloadAllFrames(within:)`.
    ///
    /// `storing` says where the stack keeps frames that are made, as far as the request lets it:
    /// in its memory alone, since a frame is made anew faster than many thousand files are kept.
    /// The source is kept as the request says.
    ///
    /// Throws how that load fails, and `invalidRequest` where no cache has the image and
    /// `fromCacheOnly` is set.
    public init(
        _ request: ImageRequest, from client: ImagebusClient, as form: FrameForm = .encoded,
        storing tiers: CacheTypes = .memory
    ) async throws(ImageError) {
        let response = try await client.load(Self.question(request)).response
        guard let info = response.info else { throw .noFrameCached }
        (self.request, self.form) = (Self.template(request, form, tiers), form)
        (self.info, self.client) = (info, client)
        let animation = response.facts?.animation
        microseconds = animation.map { $0.durations.map(Int.init) } ?? [0]
        (loops, plays) = (animation?.loops ?? 0, animation?.plays ?? 0)
        durations = microseconds.map { .microseconds($0) }
        if request.options.contains(.preloadAllFrames) { try await preloadAllFrames() }
    }

    /// How many frames there are, at least one, at most `AnimationFacts.framesMax`.
    public var count: Int { durations.count }

    /// Whether there is more than one frame.
    public var isAnimated: Bool { count > 1 }

    /// What one frame takes, in bytes, before one is there: four for each pixel of the source.
    var estimatedFrameBytes: Int {
        let (bytes, overflows) = (info.size.area ?? .max).multipliedReportingOverflow(by: 4)
        return overflows ? .max : bytes
    }

    /// One frame: at once where it is preloaded, else by a load that all who ask meanwhile share.
    /// Cancelling the awaiting task cancels the load where nobody else waits for it.
    ///
    /// Throws `stepFailed` for a frame that is not there, and how the load fails.
    public func frame(_ index: Int) async throws(ImageError) -> AnimationFrame {
        guard durations.indices.contains(index) else {
            throw ImageError(
                .stepFailed, "no frame \(index): the image has \(count), counted from 0")
        }
        if let frame = preloaded(index) { return frame }
        let seat = begin(index)
        let ended = await withTaskCancellationHandler {
            await seat.work.value
        } onCancel: {
            loads.leave(seat)
        }
        return try ended.get()
    }

    /// A frame that `preloadAllFrames` brought.
    func preloaded(_ index: Int) -> AnimationFrame? { kept.withLock { $0[index] } }

    /// Takes part in the load of a frame.
    func begin(_ index: Int) -> FrameLoads.Seat {
        let (form, duration) = (form, durations[index])
        return loads.join(index) {
            var request = request
            request.frame = index
            return client.load(request)
        } read: { (response) throws(ImageError) in
            try AnimationFrame(index, duration, form, response)
        }
    }

    /// What is asked before the frames.
    private static func question(_ request: ImageRequest) -> ImageRequest {
        var question = request
        (question.frame, question.thumbnail, question.steps) = (nil, nil, [])
        (question.pixelRatio, question.output) = (1, OutputOptions())
        (question.infoOnly, question.facts) = (true, WantedFacts([.animation]))
        question.wantsExplanation = false
        question.context.fallback = nil
        return question
    }

    private static func template(
        _ request: ImageRequest, _ form: FrameForm, _ tiers: CacheTypes
    ) -> ImageRequest {
        var template = request
        template.storeCacheTypes.formIntersection(tiers)
        (template.infoOnly, template.facts) = (false, WantedFacts())
        template.context.fallback = nil
        if form == .pixels { template.output = OutputOptions(format: .png, compression: 1) }
        return template
    }
}

// All frames at once.
extension AnimatedImage {
    /// Loads of frames at a time where nothing else is said.
    public static let loadsAtATime = 4

    /// Whether every frame is held.
    public var areAllFramesLoaded: Bool { kept.withLock { $0.count == count } }

    /// Bytes of the frames that are held.
    public var memoryCost: Int { kept.withLock { $0.values.reduce(0) { $0 + $1.memoryCost } } }

    /// Loads all frames and holds them, four loads at a time. Players of this image need no others
    /// then.
    ///
    /// Throws `limitExceeded` as soon as frames take more than the budget, and how the load of a
    /// frame fails; nothing more is held then than before.
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

    /// Holds none of them any more. Those that somebody else has stay with them.
    public func unloadFrames() { kept.withLock { $0 = [:] } }

    /// Loads all frames, at most so many at a time, and hands each to `body` when it has come, one
    /// after the other; false ends it. Throws how the load of a frame fails, which ends it too. The
    /// loads that are left are cancelled then, and so they are with the awaiting task.
    public func forEachFrame(
        atATime most: Int = AnimatedImage.loadsAtATime, _ body: (AnimationFrame) -> Bool
    ) async throws(ImageError) {
        let failure = await withTaskGroup(of: FrameLoads.Ended.self) { group -> ImageError? in
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

    private func ended(_ index: Int) async -> FrameLoads.Ended {
        do throws(ImageError) {
            return .success(try await frame(index))
        } catch {
            return .failure(error)
        }
    }

    private static func tooLarge(_ bytesMax: Int) -> ImageError {
        ImageError(
            .limitExceeded,
            "the frames take more than \(bytesMax) bytes together: play them, which holds some of "
                + "them, take them encoded or smaller, or preload within a larger budget",
            details: ["limit": "\(bytesMax)"])
    }
}

/// As what the frames of an animation are held.
public enum FrameForm: Hashable, Sendable {
    /// Encoded, as the request says. They take what their files take.
    case encoded
    /// As pixels: four bytes each. What the request says of its output is replaced: frames come
    /// without loss, in 8 bits of sRGB.
    case pixels
}

/// Pixels of one image: red, green, blue and alpha of 8 bits in sRGB, row by row from the top, with
/// straight alpha.
public struct FramePixels: Hashable, Sendable {
    /// Columns and rows.
    public let size: PixelSize
    /// Four bytes of each pixel.
    public let rgba: [UInt8]

    /// Takes as many bytes as the size says.
    public init(size: PixelSize, rgba: [UInt8]) {
        precondition(rgba.count == 4 * size.width * size.height, "four bytes a pixel")
        (self.size, self.rgba) = (size, rgba)
    }
}

/// One frame of an animation as it is shown: the whole canvas.
public struct AnimationFrame: Sendable {
    /// What it is held as.
    public enum Content: Sendable {
        /// Its file, and what else came with it. From 1 MiB on it is a mapping of the stack's
        /// memory (`ImageBytes`).
        case encoded(ImageResponse)
        /// Its pixels.
        case pixels(FramePixels)
    }

    /// Its place in the file, from 0 on.
    public let index: Int
    /// How long it is shown; zero of a still image.
    public let duration: Duration
    /// Its image.
    public let content: Content

    /// Bytes that it takes: four for each pixel, or those of its file.
    public var memoryCost: Int {
        switch content {
        case .encoded(let response): response.bytes?.count ?? 0
        case .pixels(let pixels): pixels.rgba.count
        }
    }

    /// Its pixels, where these were asked for.
    public var pixels: FramePixels? {
        if case .pixels(let pixels) = content { pixels } else { nil }
    }

    /// Its file, where pixels were not asked for.
    public var response: ImageResponse? {
        if case .encoded(let response) = content { response } else { nil }
    }
}

extension AnimationFrame {
    /// What came of a load. Throws where there is no image, or its pixels cannot be read.
    init(
        _ index: Int, _ duration: Duration, _ form: FrameForm, _ response: ImageResponse
    ) throws(ImageError) {
        guard let bytes = response.bytes else { throw .noFrameCached }
        (self.index, self.duration) = (index, duration)
        switch form {
        case .encoded: content = .encoded(response)
        case .pixels:
            content = .pixels(
                try bytes.withUnsafeBytes { (bytes) throws(ImageError) in
                    try PNGPixels.pixels(of: bytes)
                })
        }
    }
}

extension ImageError {
    /// A miss, which an animation has no word for.
    static var noFrameCached: ImageError {
        ImageError(
            .invalidRequest,
            "no cache has the image, and fromCacheOnly lets nobody else be asked: load it before, "
                + "or leave that option out")
    }
}

/// Loads of frames that are under way: one of a frame, for all who want it. It is cancelled when
/// nobody does any more. Any thread.
final class FrameLoads: Sendable {
    typealias Ended = Result<AnimationFrame, ImageError>

    /// The share that one of those who want a frame has in its load.
    struct Seat: Sendable {
        let index: Int
        /// Tells loads of the same frame apart.
        let number: Int
        let work: Task<Ended, Never>
    }

    private struct Running {
        let seat: Seat
        let load: LoadTask
        var users: Int
    }

    private struct State {
        var running: [Int: Running] = [:]
        var begun = 0
    }

    private let state = Mutex(State())

    /// Takes part in the load of a frame, which begins where there is none.
    func join(
        _ index: Int, begin: () -> LoadTask,
        read: @escaping @Sendable (ImageResponse) throws(ImageError) -> AnimationFrame
    ) -> Seat {
        state.withLock { state in
            if let running = state.running[index] {
                state.running[index]?.users += 1
                return running.seat
            }
            state.begun += 1
            let (number, load) = (state.begun, begin())
            let work = Task.detached {
                let ended = await Self.end(of: load, read)
                self.remove(index, number)
                return ended
            }
            let seat = Seat(index: index, number: number, work: work)
            state.running[index] = Running(seat: seat, load: load, users: 1)
            return seat
        }
    }

    /// Gives a seat back, once. Without effect where the load has ended.
    func leave(_ seat: Seat) {
        state.withLock { state in
            guard let running = state.running[seat.index], running.seat.number == seat.number else {
                return
            }
            guard running.users == 1 else {
                state.running[seat.index]?.users -= 1
                return
            }
            state.running[seat.index] = nil
            running.load.cancel()
        }
    }

    private func remove(_ index: Int, _ number: Int) {
        state.withLock { state in
            if state.running[index]?.seat.number == number { state.running[index] = nil }
        }
    }

    private static func end(
        of load: LoadTask,
        _ read: @Sendable (ImageResponse) throws(ImageError) -> AnimationFrame
    ) async -> Ended {
        do throws(ImageError) {
            return .success(try read(try await load.response))
        } catch {
            return .failure(error)
        }
    }
}
