import Model

/// The state machine that decides what a slot shows. A pure value without I/O: events in, actions
/// out.
///
/// Each key has one place. Its loads are those that have not ended, oldest first: more than one
/// only with `avoidAutoCancelImage`. Loads that have ended are forgotten, so that late results of
/// them are never shown.
struct SlotMachine<Placeholder: Sendable> {
    private struct Place {
        var url = ""
        var progress = SlotProgress.none
        /// Loads in flight.
        var live: [SlotLoadID] = []
        /// Loads whose image is shown and that wait for the transition to it to end.
        var waiting: [SlotLoadID] = []
        var isIndicating = false
        /// The load that `url` and `progress` belong to.
        var newest = SlotLoadID(number: 0)
        /// The load whose image is shown, if any.
        var shown = SlotLoadID(number: 0)
    }

    private var places: [String: Place] = [:]
    private var loads: [SlotLoadID: SlotLoad<Placeholder>] = [:]
    private var last: UInt64 = 0

    /// The largest number of keys known at a time. Keys whose loads have ended are dropped to make
    /// room.
    static var keysMax: Int { 1_024 }
    /// The largest number of loads in progress.
    static var loadsMax: Int { 4_096 }

    typealias Action = SlotAction<Placeholder>

    func state(of key: String) -> SlotState? {
        places[key].map {
            SlotState(url: $0.url, progress: $0.progress, loads: $0.live.count)
        }
    }

    // MARK: - From the caller

    /// Handles a new load. `atHand` is its answer if that is available before anything was shown.
    mutating func begin(
        _ load: SlotLoad<Placeholder>, atHand: ImageResponse?
    ) -> (id: SlotLoadID, actions: [Action]) {
        last += 1
        let id = SlotLoadID(number: last)
        var load = load
        load.id = id
        guard makeRoom(for: load.key) else {
            let error = ImageError(
                .limitExceeded,
                "a slot accepts at most \(Self.keysMax) keys and \(Self.loadsMax) loads")
            return (id, [.notify(load, answer(.failure(error), isAsynchronous: false))])
        }
        var (actions, stops): ([Action], [Action]) = ([], [])
        if !load.options.contains(.avoidAutoCancelImage) {
            (actions, stops) = cut(load.key, because: "replaced by a newer load in its slot")
        }
        var place = places[load.key] ?? Place()
        let wasIndicating = place.isIndicating
        (place.url, place.progress, place.newest) = (load.url, .none, id)
        place.live.append(id)
        place.isIndicating = wasIndicating || (atHand == nil && !load.url.isEmpty)
        places[load.key] = place
        loads[id] = load
        if let atHand {
            actions += finish(id, .success(atHand), isAsynchronous: false)
            return (id, actions + stops)
        }
        if !load.options.contains(.delayPlaceholder) {
            actions.append(.show(load.key, .placeholder(load.placeholder)))
        }
        guard !load.url.isEmpty else {
            let error = ImageError(.invalidURL, "the URL is missing")
            actions += finish(id, .failure(error), isAsynchronous: false)
            return (id, actions + stops)
        }
        actions.append(
            .show(
                load.key, wasIndicating ? .progress(.none) : .indicator(isRunning: true)))
        // Start the new load before stopping the old one, so that work that both need continues.
        return (id, actions + [.start(load)] + stops)
    }

    /// Ends all loads of a key with `cancelled`.
    mutating func cancel(_ key: String) -> [Action] {
        let placeholder = places[key]?.live.last.flatMap { id in
            loads[id].flatMap { load -> Action? in
                guard load.options.contains(.delayPlaceholder), !load.hasShownCached else {
                    return nil
                }
                return .show(key, .placeholder(load.placeholder))
            }
        }
        let (reports, stops) = cut(key, because: "cancelled by the caller")
        var shown: [Action] = []
        if places[key]?.isIndicating == true {
            places[key]?.isIndicating = false
            shown.append(.show(key, .indicator(isRunning: false)))
        }
        if let placeholder { shown.append(placeholder) }
        return shown + reports + stops
    }

    /// Ends all loads with `cancelled`.
    mutating func cancelAll() -> [Action] { places.keys.sorted().flatMap { cancel($0) } }

    /// Handles the end of the transition to a key's image: reports the loads that waited for it.
    mutating func transitionEnded(_ key: String) -> [Action] {
        let ids = places[key]?.waiting ?? []
        places[key]?.waiting = []
        return ids.compactMap { loads.removeValue(forKey: $0) }
            .compactMap { load in load.pending.map { .notify(load, $0) } }
    }

    // MARK: - From the connection

    /// Handles an event of a load that was started.
    mutating func handle(_ event: LoadEvent, of id: SlotLoadID) -> [Action] {
        guard let load = loads[id], load.pending == nil else { return [] }
        switch event {
        case .info: return []
        case .progress(let event):
            let progress = SlotProgress(received: event.received, expected: event.expected)
            guard load.wantsProgress, let place = places[load.key], place.newest == id,
                place.progress != progress
            else { return [] }
            places[load.key]?.progress = progress
            return [.show(load.key, .progress(progress))]
        case .partial(let response): return preview(response, of: load, wantsTransition: false)
        case .cached(let response):
            loads[id]?.hasShownCached = true
            let wants = load.wantsTransition(to: response, isAsynchronous: true)
            return preview(response, of: load, wantsTransition: wants)
        case .end(let result): return finish(id, result, isAsynchronous: true)
        }
    }

    // MARK: - Steps

    private mutating func preview(
        _ response: ImageResponse, of load: SlotLoad<Placeholder>, wantsTransition: Bool
    ) -> [Action] {
        if load.options.contains(.avoidAutoSetImage) {
            let answer = SlotAnswer(
                result: .success(response), isFinished: false, isAsynchronous: true,
                wantsTransition: wantsTransition)
            return [.notify(load, answer)]
        }
        guard mayShow(load.id, at: load.key) else { return [] }
        return [
            .show(
                load.key,
                .image(response, isPartial: true, wantsTransition: wantsTransition))
        ]
    }

    private mutating func finish(
        _ id: SlotLoadID, _ result: Result<ImageResponse, ImageError>, isAsynchronous: Bool
    ) -> [Action] {
        guard let load = loads.removeValue(forKey: id) else { return [] }
        // A load that ends immediately was never started.
        var actions: [Action] = isAsynchronous ? [.stop(id)] : []
        places[load.key]?.live.removeAll { $0 == id }
        if let place = places[load.key], place.isIndicating, place.live.isEmpty {
            places[load.key]?.isIndicating = false
            actions.append(.show(load.key, .indicator(isRunning: false)))
        }
        guard case .success(let response) = result, response.status == .ok else {
            let answer = answer(result, isAsynchronous: isAsynchronous)
            return actions + showFailure(of: id, load) + [.notify(load, answer)]
        }
        complete(id, at: load.key)
        let answer = answer(
            result, isAsynchronous: isAsynchronous,
            load.wantsTransition(to: response, isAsynchronous: isAsynchronous))
        guard !load.options.contains(.avoidAutoSetImage),
            // The image is already shown if the origin reported that nothing changed.
            !load.hasShownCached || response.isRefreshed, mayShow(id, at: load.key)
        else { return actions + [.notify(load, answer)] }
        actions.append(
            .show(
                load.key,
                .image(response, isPartial: false, wantsTransition: answer.wantsTransition)))
        guard answer.wantsTransition, load.options.contains(.waitTransition) else {
            return actions + [.notify(load, answer)]
        }
        var waiting = load
        waiting.pending = answer
        loads[id] = waiting
        places[load.key]?.waiting.append(id)
        return actions
    }

    /// Shows the delayed placeholder unless an image is shown.
    private mutating func showFailure(
        of id: SlotLoadID, _ load: SlotLoad<Placeholder>
    ) -> [Action] {
        guard load.options.contains(.delayPlaceholder), !load.hasShownCached,
            mayShow(id, at: load.key)
        else { return [] }
        return [.show(load.key, .placeholder(load.placeholder))]
    }

    /// Returns whether a load may show something, which it may unless a newer load has done so; if
    /// it may, records it as the load whose image is shown.
    private mutating func mayShow(_ id: SlotLoadID, at key: String) -> Bool {
        guard let place = places[key], place.shown.number <= id.number else { return false }
        places[key]?.shown = id
        return true
    }

    /// Sets the progress of a successful load to complete, even if it reported no progress.
    private mutating func complete(_ id: SlotLoadID, at key: String) {
        guard let place = places[key], place.newest == id else { return }
        let bytes = max(place.progress.received, place.progress.expected)
        places[key]?.progress =
            bytes == 0 ? .whole : SlotProgress(received: bytes, expected: bytes)
    }

    /// Ends the loads of a key. Returns what to report and which loads to stop; nothing of them is
    /// shown.
    private mutating func cut(
        _ key: String, because reason: String
    ) -> (reports: [Action], stops: [Action]) {
        guard let place = places[key] else { return ([], []) }
        places[key]?.live = []
        places[key]?.waiting = []
        let cancelled = answer(.failure(ImageError(.cancelled, reason)), isAsynchronous: false)
        let ended = (place.waiting + place.live).sorted { $0.number < $1.number }
            .compactMap { loads.removeValue(forKey: $0) }
        return (ended.map { .notify($0, cancelled) }, place.live.map { .stop($0) })
    }

    private func answer(
        _ result: Result<ImageResponse, ImageError>, isAsynchronous: Bool,
        _ wantsTransition: Bool = false
    ) -> SlotAnswer {
        SlotAnswer(
            result: result, isFinished: true, isAsynchronous: isAsynchronous,
            wantsTransition: wantsTransition)
    }

    /// Whether another load may begin for a key.
    private mutating func makeRoom(for key: String) -> Bool {
        guard loads.count < Self.loadsMax else { return false }
        guard places[key] == nil, places.count >= Self.keysMax else { return true }
        places = places.filter { !$0.value.live.isEmpty || !$0.value.waiting.isEmpty }
        return places.count < Self.keysMax
    }
}

/// An action for the owner of the state machine to perform, in order.
enum SlotAction<Placeholder: Sendable>: Sendable {
    case start(SlotLoad<Placeholder>)
    /// Release a load that was begun, and cancel it if it has not ended. Issued once per load.
    case stop(SlotLoadID)
    /// Show something in the place with a key.
    case show(String, SlotChange<Placeholder>)
    /// Report to the caller of a load; the end is the last report.
    case notify(SlotLoad<Placeholder>, SlotAnswer)
}

/// Identifies a load of a slot; never reused.
struct SlotLoadID: Hashable, Sendable {
    let number: UInt64
}

/// One load of a slot.
struct SlotLoad<Placeholder: Sendable>: Sendable {
    let key: String
    let request: ImageRequest
    let placeholder: Placeholder?
    let wantsProgress: Bool
    let httpClient: UInt64
    let completion: (@Sendable (SlotAnswer) -> Void)?
    var id = SlotLoadID(number: 0)
    /// Whether the cached image of a load with `refreshCached` was shown.
    var hasShownCached = false
    /// What to report when the transition to its image is over (`waitTransition`).
    var pending: SlotAnswer?

    var url: String { request.url }
    var options: RequestOptions { request.options }

    /// The request without the options that the slot alone handles. They don't affect which image
    /// answers it.
    var imageRequest: ImageRequest {
        var request = request
        request.options.subtract([
            .delayPlaceholder, .avoidAutoSetImage, .forceTransition, .avoidAutoCancelImage,
            .waitTransition,
        ])
        return request
    }

    /// SDWebImage's rule: images that were fetched, and images from a disk cache that arrived late.
    func wantsTransition(to response: ImageResponse, isAsynchronous: Bool) -> Bool {
        if options.contains(.forceTransition) { return true }
        if response.cacheType == .none { return true }
        return response.cacheType == .disk && isAsynchronous
    }
}
