public import Model
import Synchronization

/// A place that displays images, one after another, such as a cell of a page, a terminal or an
/// editor; the counterpart of SDWebImage's view categories. Can be used from any thread.
///
///     let slot = ImageSlot<String>(client, on: .inline) { key, change in
///         switch change {
///         case .placeholder(let text): screen.write(text ?? "", at: key)
///         case .image(let image, _, let fades): screen.draw(image, at: key, fading: fades)
///         case .indicator(let isRunning): screen.spin(isRunning, at: key)
///         case .progress(let progress): screen.fill(progress.fraction, at: key)
///         }
///     }
///     slot.load(request, placeholder: "…")
///
/// A new load replaces the one before it, which ends first, with `cancelled`; after that, nothing
/// of the old load is shown or reported. One slot can have several places, identified by keys
/// (SDWebImage's operation keys).
///
/// An image that this client can return immediately (`ImagebusClient.answerAtHand`) is shown before
/// `load` returns, without a placeholder or an indicator. Otherwise the placeholder and the
/// indicator are shown before `load` returns. All later changes are reported on the executor.
///
/// Changes and answers are reported one at a time, in one order for all threads. If one is being
/// reported on another thread, or `load` was called from within one, later ones follow after it,
/// possibly after `load` has returned. Callbacks must not block, because later changes wait for
/// them; in that case some progress updates and partial images are dropped.
///
/// Releasing the slot cancels its loads and reports their end.
public final class ImageSlot<Placeholder: Sendable>: Sendable {
    struct State {
        var machine = SlotMachine<Placeholder>()
        var tasks: [SlotLoadID: LoadTask] = [:]
        /// Actions to perform, in order, and whether a thread is performing them.
        var actions: [SlotAction<Placeholder>] = []
        var isActing = false
    }

    let client: ImagebusClient
    let executor: CallbackExecutor
    let show: @Sendable (String, SlotChange<Placeholder>) -> Void
    let state = Mutex(State())

    /// Creates a slot that shows nothing yet. `show` is called with the key of a place and what to
    /// show there; changes caused by replies are reported on `executor`. The slot holds `client`
    /// and `show`.
    public init(
        _ client: ImagebusClient, on executor: CallbackExecutor,
        show: @escaping @Sendable (String, SlotChange<Placeholder>) -> Void
    ) {
        self.client = client
        self.executor = executor
        self.show = show
    }

    deinit { act { $0.machine.cancelAll() } }

    /// Loads an image for the place with a key and replaces the previous load for it.
    ///
    /// The slot handles these options of the request, with the same meaning as in SDWebImage:
    /// - `delayPlaceholder`: the placeholder is shown only if the load delivers no image, including
    ///   when the URL is empty or the load is canceled. It does not replace a cached image whose
    ///   refresh failed, and is not shown for a load replaced by a newer one.
    /// - `avoidAutoSetImage`: no image is shown; `completion` receives it, including images before
    ///   the end.
    /// - `avoidAutoCancelImage`: earlier loads of the key continue. Their images are shown as they
    ///   arrive, but never replace the image of a newer load.
    /// - `forceTransition`: every image requests a transition.
    /// - `waitTransition`: if the image requests a transition, the end of the load is reported by
    ///   `transitionEnded(_:)`. A load canceled before that ends with `cancelled`.
    ///
    /// An empty URL ends with `invalidURL`; more than 1,024 keys with loads, or 4,096 loads in one
    /// slot, end with `limitExceeded`; both before this returns. `completion` is called exactly
    /// once with the end. Progress of the transfer is reported if `wantsProgress` is set, partial
    /// images with `progressiveLoad`. For `httpClient`, see `ImagebusClient.load`.
    public func load(
        _ request: ImageRequest, key: String = "image", placeholder: Placeholder? = nil,
        wantsProgress: Bool = false, httpClient: UInt64 = 0,
        completion: (@Sendable (SlotAnswer) -> Void)? = nil
    ) {
        let load = SlotLoad(
            key: key, request: request, placeholder: placeholder, wantsProgress: wantsProgress,
            httpClient: httpClient, completion: completion)
        let atHand = request.url.isEmpty ? nil : client.answerAtHand(to: load.imageRequest)
        act { $0.machine.begin(load, atHand: atHand).actions }
    }

    /// Ends all loads of a key with `cancelled`. The image shown stays, unless a delayed
    /// placeholder replaces it. Idempotent.
    public func cancel(_ key: String = "image") { act { $0.machine.cancel(key) } }

    /// Ends all loads of all keys with `cancelled`. Idempotent.
    public func cancelAll() { act { $0.machine.cancelAll() } }

    /// Reports that the transition to the newest image of a key is over, which ends loads that wait
    /// for it (`waitTransition`). Does nothing if there are none.
    public func transitionEnded(_ key: String = "image") {
        act { $0.machine.transitionEnded(key) }
    }

    /// Returns the state of a key. `nil` if nothing was loaded for it; with more than 1,024 keys,
    /// also if its loads have ended.
    public func state(of key: String = "image") -> SlotState? {
        state.withLock { $0.machine.state(of: key) }
    }
}

// Performing the state machine's actions, one after another.
extension ImageSlot {
    /// The largest number of queued actions; beyond it, progress updates and partial images are
    /// dropped.
    private static var waitingMax: Int { 1_024 }

    /// Lets the state machine decide, and performs the queued actions unless another thread is
    /// doing so; that thread then performs these as well. All callers therefore see the same order,
    /// and callbacks may call the slot.
    func act(_ decide: (inout State) -> [SlotAction<Placeholder>]) {
        let isMine = state.withLock { state in
            for action in decide(&state)
            where state.actions.count < Self.waitingMax || !action.mayBeLeftOut {
                state.actions.append(action)
            }
            guard !state.isActing else { return false }
            state.isActing = true
            return true
        }
        guard isMine else { return }
        while let actions = nextActions() {
            for action in actions { act(on: action) }
        }
    }

    private func nextActions() -> [SlotAction<Placeholder>]? {
        state.withLock { state in
            state.isActing = !state.actions.isEmpty
            return state.isActing ? exchange(&state.actions, with: []) : nil
        }
    }

    private func act(on action: SlotAction<Placeholder>) {
        switch action {
        case .start(let load): start(load)
        case .stop(let id): state.withLock { $0.tasks.removeValue(forKey: id) }?.cancel()
        case .show(let key, let change): show(key, change)
        case .notify(let load, let answer): load.completion?(answer)
        }
    }

    private func start(_ load: SlotLoad<Placeholder>) {
        let id = load.id
        let callbacks = LoadCallbacks(on: executor) { [weak self] event in
            self?.act { $0.machine.handle(event, of: id) }
        }
        let task = client.begin(
            load.imageRequest,
            LoadOptions(wantsProgress: load.wantsProgress, httpClient: load.httpClient),
            callbacks: callbacks)
        // If it has ended in the meantime, the action that releases it is queued after this one.
        state.withLock { $0.tasks[id] = task }
    }
}

extension SlotAction {
    /// Whether the action may be dropped because the next one of its kind supersedes it.
    fileprivate var mayBeLeftOut: Bool {
        switch self {
        case .show(_, .progress), .show(_, .image(_, isPartial: true, wantsTransition: _)): true
        default: false
        }
    }
}

/// A change of what a place shows, reported in the order in which it is to appear.
public enum SlotChange<Placeholder: Sendable>: Sendable {
    /// Show a placeholder; `nil` means show nothing.
    case placeholder(Placeholder?)
    /// Show an image. `isPartial`: the image is decoded from the bytes received so far, or is a
    /// cached image that is being refreshed; another image may follow. `wantsTransition`: a
    /// transition from the old picture is appropriate, because the image arrived late enough for
    /// the old one to have been seen. Always false in slots without transitions.
    case image(ImageResponse, isPartial: Bool, wantsTransition: Bool)
    /// Show or hide an indicator of a running load.
    case indicator(isRunning: Bool)
    /// Update the progress; only if progress was requested.
    case progress(SlotProgress)
}

/// The progress of a load in a slot.
public struct SlotProgress: Hashable, Sendable {
    /// The number of bytes received.
    public var received: UInt64
    /// The total number of bytes; 0 if unknown.
    public var expected: UInt64

    /// No progress and an unknown total: the initial state of every load.
    public static let none = SlotProgress(received: 0, expected: 0)
    /// Complete, for a load that reported no progress.
    public static let whole = SlotProgress(received: 1, expected: 1)

    /// Creates a progress value; `expected` is 0 if unknown.
    public init(received: UInt64, expected: UInt64) {
        (self.received, self.expected) = (received, expected)
    }

    /// The completed fraction from 0 to 1, for an indicator; 0 if the total is unknown.
    public var fraction: Double {
        guard expected > 0 else { return 0 }
        return min(1, Double(received) / Double(expected))
    }
}

/// The state of one key of a slot.
public struct SlotState: Hashable, Sendable {
    /// The most recently requested URL, whether or not the load succeeded.
    public internal(set) var url: String
    /// The progress of that load; complete if it succeeded.
    public internal(set) var progress: SlotProgress
    /// The number of loads of this key in progress; more than one only with `avoidAutoCancelImage`.
    public internal(set) var loads: Int
}

/// The report of a slot's load to its caller: its end, exactly once, and, with `avoidAutoSetImage`,
/// before that the images that the slot would have shown.
public struct SlotAnswer: Sendable {
    /// An image, a miss, or an error; `cancelled` if a newer load replaced this one.
    public let result: Result<ImageResponse, ImageError>
    /// Whether this is the end of the load; nothing is reported after it.
    public let isFinished: Bool
    /// Whether it was reported after `load` returned, so that users may have seen the previous
    /// content.
    public let isAsynchronous: Bool
    /// Whether a transition is appropriate: always with `forceTransition`, otherwise for images
    /// that were fetched and for images from a disk cache.
    public let wantsTransition: Bool

    /// The tier that had the image; none for a fetched image, a miss or an error.
    public var cacheType: CacheTypes { (try? result.get())?.cacheType ?? .none }
}
