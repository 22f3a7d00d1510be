public import ImageModel
import Synchronization

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
