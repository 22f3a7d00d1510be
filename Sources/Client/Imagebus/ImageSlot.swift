public import ImageModel
import Messages
import Synchronization

/// A place that shows images, one after another, such as a cell of a page, of a terminal or of an
/// editor: what SDWebImage's view categories are. Any thread.
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
/// A new load takes the place of the one before it, which ends first, with `cancelled`; nothing of
/// that one is shown or told after it. Keys tell several places of one slot apart (SDWebImage's
/// operation keys).
///
/// An image that this client has at hand (`ImagebusClient.answerAtHand`) is shown before `load`
/// returns, without a placeholder and without an indicator. Where none is, the placeholder and the
/// indicator are, before `load` returns. All else comes where the executor says.
///
/// Changes and answers come one at a time, in one order for all threads. Where one is told on
/// another thread, or is what `load` was called from, the next ones are told behind it, which may
/// be after `load` has returned. They must not block: what follows waits for them. Of progress and
/// partial images some are left out then.
///
/// The end of the slot cancels its loads and tells so.
public final class ImageSlot<Placeholder: Sendable>: Sendable {
    struct State {
        var machine = SlotMachine<Placeholder>()
        /// What is to be begun, by its number.
        var orders: [SlotLoadID: Order] = [:]
        var tasks: [SlotLoadID: LoadTask] = [:]
        var completions: [SlotLoadID: @Sendable (SlotAnswer) -> Void] = [:]
        /// What is to be done, in order, and whether somebody does it.
        var actions: [SlotAction<Placeholder>] = []
        var isActing = false
    }

    /// What the bus is asked for.
    struct Order: Sendable {
        let request: ImageRequest
        let wantsProgress: Bool
        let visitor: UInt64
    }

    let client: ImagebusClient
    let executor: CallbackExecutor
    let show: @Sendable (String, SlotChange<Placeholder>) -> Void
    let state = Mutex(State())

    /// A slot that shows nothing yet. `show` is called with the key of a place and what it has to
    /// show; of what the bus tells, where `executor` says. The slot keeps `client` and `show`.
    public init(
        _ client: ImagebusClient, on executor: CallbackExecutor,
        show: @escaping @Sendable (String, SlotChange<Placeholder>) -> Void
    ) {
        self.client = client
        self.executor = executor
        self.show = show
    }

    deinit { act { $0.machine.cancelAll() } }

    /// Loads an image for the place of a key, in the stead of what was loaded for it before.
    ///
    /// These options of the request are the slot's, with SDWebImage's meaning:
    /// - `delayPlaceholder`: the placeholder is shown where no image came of the load, also where
    ///   the URL is empty or the load is cancelled, and not before; not in the stead of a cached
    ///   image that could not be refreshed, and not for a load that a newer one took over.
    /// - `avoidAutoSetImage`: no image is shown; `completion` gets it, and those before the end.
    /// - `avoidAutoCancelImage`: loads of the key go on. Their images are shown as they come, but
    ///   none in the stead of a newer load's.
    /// - `forceTransition`: every image wants a transition.
    /// - `waitTransition`: the end of a load whose image wants a transition is told with
    ///   `transitionEnded(_:)`; a load that is cancelled before it ends with `cancelled`.
    ///
    /// An empty URL ends with `invalidURL`, more than 1,024 keys with loads or 4,096 loads of one
    /// slot with `limitExceeded`, both before this returns. `completion` is told the end once.
    /// Progress of the transfer is told where it is wanted, partial images are under
    /// `progressiveLoad`. `visitor`: see `ImagebusClient.load`.
    public func load(
        _ request: ImageRequest, key: String = "image", placeholder: Placeholder? = nil,
        wantsProgress: Bool = false, visitor: UInt64 = 0,
        completion: (@Sendable (SlotAnswer) -> Void)? = nil
    ) {
        let load = SlotLoad(
            key: key, url: request.url, placeholder: placeholder,
            options: request.options.intersection(SlotLoad<Placeholder>.viewOptions))
        var request = request
        request.options.subtract(SlotLoad<Placeholder>.viewOptions)
        let atHand = request.url.isEmpty ? nil : client.answerAtHand(to: request)
        act { state in
            let (id, actions) = state.machine.begin(load, atHand: atHand)
            if state.machine.isLive(id) {
                state.orders[id] = Order(
                    request: request, wantsProgress: wantsProgress, visitor: visitor)
            }
            state.completions[id] = completion
            return actions
        }
    }

    /// Ends all loads of a key with `cancelled`. What is shown stays, but for a delayed
    /// placeholder. Idempotent.
    public func cancel(_ key: String = "image") { act { $0.machine.cancel(key) } }

    /// Ends all loads of all keys with `cancelled`. Idempotent.
    public func cancelAll() { act { $0.machine.cancelAll() } }

    /// The transition to the newest image of a key is over, which loads with `waitTransition` wait
    /// for. Nothing happens where none does.
    public func transitionEnded(_ key: String = "image") {
        act { $0.machine.transitionEnded(key) }
    }

    /// What is known of a key; `nil` where nothing was loaded for it, and, beyond 1,024 keys, where
    /// its loads have ended.
    public func state(of key: String = "image") -> SlotState? {
        state.withLock { $0.machine.state(of: key) }
    }
}

// What the machine decides is done here, one action after another.
extension ImageSlot {
    /// Actions that wait for one that is being done; beyond that progress and partial images are
    /// left out.
    private static var waitingMax: Int { 1_024 }

    /// Has the machine decide, and does what waits, unless somebody else is at it, who then does
    /// this as well. So all see the same order, and a callback may call the slot.
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
        while let actions = takeActions() {
            for action in actions { act(on: action) }
        }
    }

    private func takeActions() -> [SlotAction<Placeholder>]? {
        state.withLock { state in
            state.isActing = !state.actions.isEmpty
            return state.isActing ? exchange(&state.actions, with: []) : nil
        }
    }

    private func act(on action: SlotAction<Placeholder>) {
        switch action {
        case .start(let id): start(id)
        case .stop(let id):
            let task = state.withLock { state in
                state.orders[id] = nil
                return state.tasks.removeValue(forKey: id)
            }
            task?.cancel()
        case .show(let key, let change): show(key, change)
        case .tell(let id, let answer):
            let completion = state.withLock { state in
                answer.isFinished
                    ? state.completions.removeValue(forKey: id) : state.completions[id]
            }
            completion?(answer)
        }
    }

    private func start(_ id: SlotLoadID) {
        guard let order = state.withLock({ $0.orders.removeValue(forKey: id) }) else { return }
        let callbacks = callbacks(of: id, wantsProgress: order.wantsProgress)
        let task = client.load(
            order.request, wantsProgress: order.wantsProgress, visitor: order.visitor,
            callbacks: callbacks)
        // If it has ended meanwhile, what lets go of it waits behind this.
        state.withLock { $0.tasks[id] = task }
    }

    /// What the bus tells comes back to the machine, as long as there is a slot.
    private func callbacks(of id: SlotLoadID, wantsProgress: Bool) -> LoadCallbacks {
        let advance: @Sendable (RequestProgress) -> Void = { [weak self] event in
            let progress = SlotProgress(received: event.received, expected: event.expected)
            self?.act { $0.machine.advance(id, to: progress) }
        }
        return LoadCallbacks(
            on: executor, progress: wantsProgress ? advance : nil,
            partial: { [weak self] response in
                self?.act { $0.machine.show(partial: response, of: id) }
            },
            cached: { [weak self] response in
                self?.act { $0.machine.show(cached: response, of: id) }
            },
            completion: { [weak self] result in
                self?.act { $0.machine.end(id, with: result) }
            })
    }
}

extension SlotAction {
    /// The next one of its kind says as much.
    fileprivate var mayBeLeftOut: Bool {
        switch self {
        case .show(_, .progress), .show(_, .image(_, isPartial: true, wantsTransition: _)): true
        default: false
        }
    }
}

/// What a place has to show or to do next. Changes come in the order in which they are to be seen.
public enum SlotChange<Placeholder: Sendable>: Sendable {
    /// What stands for the image; `nil`: the place is empty.
    case placeholder(Placeholder?)
    /// An image. `isPartial`: of what has arrived so far, or a cached one that is being refreshed;
    /// another one may follow. `wantsTransition`: the place may move from the old picture to this
    /// one, since it came late enough for somebody to see the old one. It is always false in slots
    /// without transitions.
    case image(ImageResponse, isPartial: Bool, wantsTransition: Bool)
    /// A sign that a load runs is to be seen, or not any more.
    case indicator(isRunning: Bool)
    /// For the indicator, where progress was asked for.
    case progress(SlotProgress)
}

/// How far the load of a slot is.
public struct SlotProgress: Hashable, Sendable {
    /// Bytes so far.
    public var received: UInt64
    /// Bytes in all; 0 where unknown.
    public var expected: UInt64

    /// Nothing has come, and nobody knows how much there is: every load begins so.
    public static let none = SlotProgress(received: 0, expected: 0)
    /// All of it, of a load that told nothing on its way.
    public static let whole = SlotProgress(received: 1, expected: 1)

    /// So many bytes of so many; 0 of them where unknown.
    public init(received: UInt64, expected: UInt64) {
        (self.received, self.expected) = (received, expected)
    }

    /// From 0 to 1, for an indicator; 0 where the length is unknown.
    public var fraction: Double {
        guard expected > 0 else { return 0 }
        return min(1, Double(received) / Double(expected))
    }
}

/// What is known of one key of a slot.
public struct SlotState: Hashable, Sendable {
    /// The URL that was asked for last, with or without success.
    public internal(set) var url: String
    /// How far that load is. Of one that ended well it is all.
    public internal(set) var progress: SlotProgress
    /// Loads of this key that have not ended; more than one under `avoidAutoCancelImage` alone.
    public internal(set) var loads: Int
}

/// What a load in a slot tells its caller: the end, once, and under `avoidAutoSetImage` before it
/// the images that the slot would have shown.
public struct SlotAnswer: Sendable {
    /// An image, a miss, or why there is none. `cancelled` where a newer load took the slot.
    public let result: Result<ImageResponse, ImageError>
    /// Whether this is the end: nothing is told of the load after it.
    public let isFinished: Bool
    /// Whether it came in a later turn than `load`, so that who looks may have seen what was there
    /// before.
    public let isAsynchronous: Bool
    /// Whether a transition is in place: always under `forceTransition`, else for what was fetched,
    /// and for what a disk had.
    public let wantsTransition: Bool

    /// The tier that had the image; none for what was fetched, for a miss and for a failure.
    public var cacheType: CacheTypes { (try? result.get())?.cacheType ?? .none }
}
