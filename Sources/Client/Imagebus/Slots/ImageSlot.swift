public import ImageModel
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
