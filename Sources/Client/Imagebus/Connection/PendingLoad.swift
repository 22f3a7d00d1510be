import ImageModel
import Messages

/// One load of this client, from its order to its end: what is asked for, who is told, and how far
/// it is. All tables of the line have the load itself, and no copies of it.
///
/// Unchecked: whoever makes it gives it away with its order, and only the line touches it then, in
/// functions that change one of its fields at a time.
final class PendingLoad: @unchecked Sendable {
    /// What the caller wants. Its class may change, and what is asked of its origin.
    @exclusivity(unchecked) var image: ImageRequest
    /// How it is to be loaded.
    @exclusivity(unchecked) var manner: LoadManner
    /// Names it; the same as long as it is pending.
    let token: Token
    /// Who is told.
    let task: LoadTask
    /// Of what usually differs between two loads: the rest is compared.
    let hash: Int
    /// The slot that it was begun in.
    let slot: String?
    /// What logs say of it. Of loads that are one message the first one has a say in that.
    let logContext: LogContext
    /// Whether it may be one message with others that ask for the same at the same time.
    ///
    /// One in a slot cancels the others of it; one whose trace is recorded is found in logs by
    /// itself; one that brings its bytes along has no URL by which they could be told apart; one
    /// that goes on without its client is found again by its token. Its image has reasons of its
    /// own.
    let mayBeShared: Bool
    /// Whether others may join it, or may have: set when it is submitted.
    var isShareable = false
    /// As it was sent before, and answered; `nil` where nothing is known of it.
    @exclusivity(unchecked) var remembered: RememberedLoad?
    var deadline = Instant(nanoseconds: 0)
    var unservedUntil = Instant(nanoseconds: 0)
    var isSent = false
    /// Its number in the queue of loads to send that it was in last.
    var queueNumber = 0
    var isCancelled = false
    /// Grows with every load.
    var serial: UInt64 = 0
    /// Milliseconds that were left when it was to be sent.
    var millisecondsLeft: Int

    /// A load of an image whose end the task is told.
    init(
        _ image: ImageRequest, _ task: LoadTask, group: GroupID? = nil, wantsProgress: Bool = false,
        wantsInfo: Bool = false, detach: Bool = false, uploadBytes: Int = 0, slot: String? = nil,
        logContext: LogContext = LogContext(), visitor: UInt64 = 0
    ) {
        (token, self.task) = (task.token, task)
        (self.image, self.slot, self.logContext) = (image, slot, logContext)
        hash = image.digest
        mayBeShared =
            slot == nil && !logContext.isSampled && uploadBytes == 0 && !detach
            && image.mayBeShared
        millisecondsLeft = image.timeoutMilliseconds
        manner = LoadManner(
            group: group, wantsProgress: wantsProgress, wantsInfo: wantsInfo, detach: detach,
            uploadBytes: UInt64(uploadBytes), visitor: visitor)
    }

    /// The slot, as long as the load may cancel others in it: not once it is sent again, since what
    /// came into the slot since must go on.
    private var namedSlot: String? { manner.namesSlot ? slot : nil }

    /// As it is sent.
    var message: LoadRequest {
        var image = image
        image.timeoutMilliseconds = millisecondsLeft
        return LoadRequest(
            token: token, group: manner.group, image: image, wantsProgress: manner.wantsProgress,
            wantsInfo: manner.wantsInfo, staleRetries: manner.staleRetries, detach: manner.detach,
            wantsPieces: manner.wantsPieces, uploadBytes: manner.uploadBytes,
            slot: namedSlot, logContext: logContext, visitor: manner.visitor)
    }

    /// Whether a repetition of its answer would be all of it.
    var mayBeRepeated: Bool {
        namedSlot == nil && manner.uploadBytes == 0 && !manner.wantsPieces
    }
}

extension PendingLoad: Equatable {
    static func == (one: PendingLoad, other: PendingLoad) -> Bool { one === other }
}

/// What a load says beside its image, its token and its slot; `LoadRequest` has what each part
/// means. Nothing that is counted: it is compared and copied with each load.
struct LoadManner: Equatable {
    var group: GroupID?
    var wantsProgress = false
    var wantsInfo = false
    var detach = false
    var uploadBytes: UInt64 = 0
    var visitor: UInt64 = 0
    var staleRetries: UInt8 = 0
    var wantsPieces = false
    /// Whether its slot is said.
    var namesSlot = true
}

/// Pending loads by token.
///
/// Each load is looked up four times on its way. A dictionary of tokens would spend a tenth of a
/// hit's instructions on a hash that withstands chosen keys. The kernel chose these
/// (`TokenSource`), so their bits are spread, as those of issued numbers are.
struct LoadTable {
    private struct Key: Hashable {
        let token: Token

        func _rawHashValue(seed: Int) -> Int { token.value.low.spread(seed: seed) }
    }

    private var loads: [Key: PendingLoad] = [:]

    var isEmpty: Bool { loads.isEmpty }
    var count: Int { loads.count }

    /// The load of that token.
    subscript(token: Token) -> PendingLoad? { loads[Key(token: token)] }

    /// Takes a load in; one of the same token goes.
    mutating func insert(_ load: PendingLoad) { loads[Key(token: load.token)] = load }

    /// Takes a load out.
    @discardableResult
    mutating func remove(_ token: Token) -> PendingLoad? {
        loads.removeValue(forKey: Key(token: token))
    }

    mutating func removeAll() { loads.removeAll() }
}

extension LoadTable: Sequence {
    /// In no order.
    func makeIterator() -> some IteratorProtocol<PendingLoad> { loads.values.makeIterator() }
}

/// A queue from whose middle elements are removed by the numbers that they got.
///
/// Of many elements, adding one and taking the first one take constant time on average, and
/// removing one takes a binary search: it leaves a gap until there are more gaps than elements.
struct NumberedQueue<Element> {
    /// By rising numbers; `nil` for a gap.
    private var places: [(number: Int, element: Element?)] = []
    /// The places before it are gaps.
    private var head = 0
    private var nextNumber = 0
    private(set) var count = 0
    /// Places visited so far, of which a test knows the limit.
    private(set) var visitCount = 0

    var isEmpty: Bool { count == 0 }

    /// The first element; `nil` if there is none.
    var first: Element? { head < places.count ? places[head].element : nil }

    /// Returns the number of the element.
    mutating func append(_ element: Element) -> Int {
        visitCount += 1
        places.append((nextNumber, element))
        count += 1
        nextNumber += 1
        return nextNumber - 1
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        clear(head)
        return first
    }

    /// Removes the element of that number if it is there and is the one that is meant.
    ///
    /// - Returns: whether it was removed.
    @discardableResult
    mutating func remove(_ number: Int, where isMeant: (Element) -> Bool) -> Bool {
        var (low, high) = (head, places.count)
        while low < high {
            visitCount += 1
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].number == number,
            let element = places[low].element, isMeant(element)
        else { return false }
        clear(low)
        return true
    }

    private mutating func clear(_ index: Int) {
        visitCount += 1
        places[index].element = nil
        count -= 1
        while head < places.count, places[head].element == nil {
            visitCount += 1
            head += 1
        }
        guard places.count > 2 * count + Self.gapsMin else { return }
        visitCount += places.count
        places.removeAll { $0.element == nil }
        head = 0
    }

    /// Removes all, and returns them in their order.
    mutating func removeAll() -> [Element] {
        let elements = places[head...].compactMap(\.element)
        visitCount += places.count
        (places, head, count) = ([], 0, 0)
        return elements
    }

    private static var gapsMin: Int { 32 }
}
