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
