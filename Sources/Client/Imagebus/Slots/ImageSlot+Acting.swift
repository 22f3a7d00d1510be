import ImageModel
import Messages
import Synchronization

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
