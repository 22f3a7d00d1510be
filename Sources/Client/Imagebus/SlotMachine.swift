import ImageModel

/// Decides what the places of a slot show. Pure: events in, actions out.
///
/// A key has one place. Its loads are those that have not ended, oldest first: one, and more under
/// `avoidAutoCancelImage` alone. What ended is not known any more, so that nothing that comes of it
/// later is seen.
struct SlotMachine<Placeholder: Sendable> {
    private struct Place {
        var url = ""
        var progress = SlotProgress.none
        /// On the bus.
        var live: [SlotLoadID] = []
        /// Their image is shown, and the transition to it runs.
        var waiting: [SlotLoadID] = []
        var isIndicating = false
        /// The load that `url` and `progress` are of.
        var newest = SlotLoadID(number: 0)
        /// The load whose image is seen, if one is.
        var shown = SlotLoadID(number: 0)
    }

    private var places: [String: Place] = [:]
    private var loads: [SlotLoadID: SlotLoad<Placeholder>] = [:]
    private var last: UInt64 = 0

    /// Keys that are known at a time. Those whose loads have ended make room.
    static var keysMax: Int { 1_024 }
    /// Loads that have not ended.
    static var loadsMax: Int { 4_096 }

    typealias Action = SlotAction<Placeholder>

    /// Whether the load is on the bus, or about to be.
    func isLive(_ id: SlotLoadID) -> Bool { loads[id] != nil && loads[id]?.pending == nil }

    /// What is known of a key.
    func state(of key: String) -> SlotState? {
        places[key].map {
            SlotState(url: $0.url, progress: $0.progress, loads: $0.live.count)
        }
    }

    // MARK: - From the caller

    /// A new load. `atHand`: its answer, where that is there before anything was shown.
    mutating func begin(
        _ load: SlotLoad<Placeholder>, atHand: ImageResponse?
    ) -> (SlotLoadID, [Action]) {
        last += 1
        let id = SlotLoadID(number: last)
        guard makeRoom(for: load.key) else {
            let error = ImageError(
                .limitExceeded,
                "a slot has at most \(Self.keysMax) keys and \(Self.loadsMax) loads")
            return (id, [.tell(id, answer(.failure(error), isAsynchronous: false))])
        }
        var (actions, stops): ([Action], [Action]) = ([], [])
        if !load.options.contains(.avoidAutoCancelImage) {
            (actions, stops) = cut(load.key, because: "a newer load took its slot")
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
            let error = ImageError(.invalidURL, "there is no URL")
            actions += finish(id, .failure(error), isAsynchronous: false)
            return (id, actions + stops)
        }
        actions.append(
            .show(
                load.key, wasIndicating ? .progress(.none) : .indicator(isRunning: true)))
        // The new load comes before the old one goes: work that both want goes on.
        return (id, actions + [.start(id)] + stops)
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
        let (told, stops) = cut(key, because: "it was cancelled")
        var shown: [Action] = []
        if places[key]?.isIndicating == true {
            places[key]?.isIndicating = false
            shown.append(.show(key, .indicator(isRunning: false)))
        }
        if let placeholder { shown.append(placeholder) }
        return shown + told + stops
    }

    /// Ends all loads with `cancelled`.
    mutating func cancelAll() -> [Action] { places.keys.sorted().flatMap { cancel($0) } }

    /// The transition to the image of a key is over: tells who waited for that.
    mutating func transitionEnded(_ key: String) -> [Action] {
        let ids = places[key]?.waiting ?? []
        places[key]?.waiting = []
        return ids.compactMap { id in
            loads.removeValue(forKey: id)?.pending.map { .tell(id, $0) }
        }
    }

    // MARK: - From the bus

    /// How far a load is.
    mutating func advance(_ id: SlotLoadID, to progress: SlotProgress) -> [Action] {
        guard isLive(id), let key = loads[id]?.key, places[key]?.newest == id,
            places[key]?.progress != progress
        else { return [] }
        places[key]?.progress = progress
        return [.show(key, .progress(progress))]
    }

    /// An image of what has arrived so far.
    mutating func show(partial response: ImageResponse, of id: SlotLoadID) -> [Action] {
        preview(response, of: id, wantsTransition: false)
    }

    /// The cached image of a load that is being refreshed.
    mutating func show(cached response: ImageResponse, of id: SlotLoadID) -> [Action] {
        guard isLive(id), let load = loads[id] else { return [] }
        loads[id]?.hasShownCached = true
        let wants = load.wantsTransition(to: response, isAsynchronous: true)
        return preview(response, of: id, wantsTransition: wants)
    }

    /// A load has ended.
    mutating func end(
        _ id: SlotLoadID, with result: Result<ImageResponse, ImageError>
    ) -> [Action] {
        finish(id, result, isAsynchronous: true)
    }

    // MARK: - Steps

    private mutating func preview(
        _ response: ImageResponse, of id: SlotLoadID, wantsTransition: Bool
    ) -> [Action] {
        guard isLive(id), let load = loads[id] else { return [] }
        if load.options.contains(.avoidAutoSetImage) {
            return [
                .tell(
                    id,
                    SlotAnswer(
                        result: .success(response), isFinished: false, isAsynchronous: true,
                        wantsTransition: wantsTransition))
            ]
        }
        guard mayShow(id, at: load.key) else { return [] }
        return [
            .show(
                load.key,
                .image(response, isPartial: true, wantsTransition: wantsTransition))
        ]
    }

    private mutating func finish(
        _ id: SlotLoadID, _ result: Result<ImageResponse, ImageError>, isAsynchronous: Bool
    ) -> [Action] {
        guard isLive(id), let load = loads.removeValue(forKey: id) else { return [] }
        // What ends at once was not begun.
        var actions: [Action] = isAsynchronous ? [.stop(id)] : []
        places[load.key]?.live.removeAll { $0 == id }
        if let place = places[load.key], place.isIndicating, place.live.isEmpty {
            places[load.key]?.isIndicating = false
            actions.append(.show(load.key, .indicator(isRunning: false)))
        }
        guard case .success(let response) = result, response.status == .ok else {
            let answer = answer(result, isAsynchronous: isAsynchronous)
            return actions + showFailure(of: id, load) + [.tell(id, answer)]
        }
        complete(id, at: load.key)
        let answer = answer(
            result, isAsynchronous: isAsynchronous,
            load.wantsTransition(to: response, isAsynchronous: isAsynchronous))
        guard !load.options.contains(.avoidAutoSetImage),
            // It is seen already: the origin says that nothing changed.
            !load.hasShownCached || response.isRefreshed, mayShow(id, at: load.key)
        else { return actions + [.tell(id, answer)] }
        actions.append(
            .show(
                load.key,
                .image(response, isPartial: false, wantsTransition: answer.wantsTransition)))
        guard answer.wantsTransition, load.options.contains(.waitTransition) else {
            return actions + [.tell(id, answer)]
        }
        var waiting = load
        waiting.pending = answer
        loads[id] = waiting
        places[load.key]?.waiting.append(id)
        return actions
    }

    /// The delayed placeholder, unless there is an image to be seen.
    private mutating func showFailure(
        of id: SlotLoadID, _ load: SlotLoad<Placeholder>
    ) -> [Action] {
        guard load.options.contains(.delayPlaceholder), !load.hasShownCached,
            mayShow(id, at: load.key)
        else { return [] }
        return [.show(load.key, .placeholder(load.placeholder))]
    }

    /// Takes the place for what a load shows, unless a newer load has shown something.
    private mutating func mayShow(_ id: SlotLoadID, at key: String) -> Bool {
        guard let place = places[key], place.shown.number <= id.number else { return false }
        places[key]?.shown = id
        return true
    }

    /// A load that ended well is at its end, also where nothing was told on the way.
    private mutating func complete(_ id: SlotLoadID, at key: String) {
        guard let place = places[key], place.newest == id else { return }
        let bytes = max(place.progress.received, place.progress.expected)
        places[key]?.progress =
            bytes == 0 ? .whole : SlotProgress(received: bytes, expected: bytes)
    }

    /// Ends the loads of a key: what to tell, and what to stop. Nothing of them is shown.
    private mutating func cut(
        _ key: String, because reason: String
    ) -> (told: [Action], stops: [Action]) {
        guard let place = places[key] else { return ([], []) }
        places[key]?.live = []
        places[key]?.waiting = []
        let cancelled = answer(.failure(ImageError(.cancelled, reason)), isAsynchronous: false)
        let ids = (place.waiting + place.live).sorted { $0.number < $1.number }
        for id in ids { loads[id] = nil }
        return (ids.map { .tell($0, cancelled) }, place.live.map { .stop($0) })
    }

    private func answer(
        _ result: Result<ImageResponse, ImageError>, isAsynchronous: Bool,
        _ wantsTransition: Bool = false
    ) -> SlotAnswer {
        SlotAnswer(
            result: result, isFinished: true, isAsynchronous: isAsynchronous,
            wantsTransition: wantsTransition)
    }

    /// Whether one more load may begin at a key.
    private mutating func makeRoom(for key: String) -> Bool {
        guard loads.count < Self.loadsMax else { return false }
        guard places[key] == nil, places.count >= Self.keysMax else { return true }
        places = places.filter { !$0.value.live.isEmpty || !$0.value.waiting.isEmpty }
        return places.count < Self.keysMax
    }
}

/// What the state of a slot has its surroundings do, in order.
enum SlotAction<Placeholder: Sendable>: Sendable {
    /// Begin the load.
    case start(SlotLoadID)
    /// Let go of a load that was begun, and cancel it if it has not ended. Each one once.
    case stop(SlotLoadID)
    /// Show something at the place of a key.
    case show(String, SlotChange<Placeholder>)
    /// Tell the caller of a load; the end is the last of it.
    case tell(SlotLoadID, SlotAnswer)
}

/// Numbers the loads of a slot; never used again.
struct SlotLoadID: Hashable, Sendable {
    let number: UInt64
}

/// One load of a slot, as far as what is shown depends on it.
struct SlotLoad<Placeholder: Sendable>: Sendable {
    let key: String
    let url: String
    let placeholder: Placeholder?
    /// Those of views; the rest is the coordinator's.
    let options: RequestOptions
    /// The cached image of a load that is refreshed was shown.
    var hasShownCached = false
    /// What to tell when the transition to its image is over (`waitTransition`).
    var pending: SlotAnswer?

    /// Options that only a slot knows about: the same image is at hand with and without them.
    static var viewOptions: RequestOptions {
        [
            .delayPlaceholder, .avoidAutoSetImage, .forceTransition, .avoidAutoCancelImage,
            .waitTransition,
        ]
    }

    /// By SDWebImage's rule: what was fetched, and what a disk had and came late.
    func wantsTransition(to response: ImageResponse, isAsynchronous: Bool) -> Bool {
        if options.contains(.forceTransition) { return true }
        if response.cacheType == .none { return true }
        return response.cacheType == .disk && isAsynchronous
    }
}
