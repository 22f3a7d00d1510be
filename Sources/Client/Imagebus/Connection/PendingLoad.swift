import Model

/// One load of this client, from submission to its end: the request, the task to notify, and the
/// progress so far. All tables of the connection refer to this object and hold no copies.
///
/// Unchecked: the code that creates a load transfers it with its command. From then on only the
/// connection accesses it, in functions that change one field at a time.
final class PendingLoad: @unchecked Sendable {
    /// The request. Its priority can change, as can its options for asking the origin.
    @exclusivity(unchecked) var image: ImageRequest
    /// How the image is loaded.
    @exclusivity(unchecked) var loadOptions: LoadOptions
    /// The token, which stays the same while the load is pending.
    let token: Token
    /// The task to notify.
    let task: LoadTask
    /// A hash of the fields that usually differ between loads; the others are compared.
    let hash: Int
    /// The bytes to upload.
    let bytes: [UInt8]
    /// The slot in which the load was begun.
    let slot: String?
    /// The context for log entries. Of loads sent as one message, only the first one's is used.
    let logContext: LogContext
    /// Whether the load may be combined into one message with other loads of the same image.
    ///
    /// Not if it names a slot, because it cancels the slot's other loads; if its trace is recorded,
    /// because logs must show it separately; if it uploads bytes, because there is no URL to tell
    /// uploads apart; or if it continues without its client, because it is later found by its
    /// token. The request itself may also rule it out.
    let mayBeShared: Bool
    /// The loads that it shares a message with, its place among them until it has left, and the
    /// priority that its own caller wants.
    var share: SharedLoads?
    var place: Int?
    var ownPriority = Priority.normal
    /// Whether other loads may join this one, or could have; set on submission.
    var isShareable = false
    /// The encoded form and the answer of an identical earlier load, or `nil` if there is none.
    @exclusivity(unchecked) var remembered: RememberedLoad?
    var deadline = Instant(nanoseconds: 0)
    var unservedUntil = Instant(nanoseconds: 0)
    var isSent = false
    /// Its number in the queue of loads that it was last added to.
    var queueNumber = 0
    var isCancelled = false
    /// A serial number that increases with every load.
    var serial: UInt64 = 0
    /// The time left in milliseconds when the load is encoded.
    var millisecondsLeft: Int

    /// Creates a load that reports its result to `task`.
    init(
        _ image: ImageRequest, _ task: LoadTask, _ options: LoadOptions = LoadOptions(),
        slot: String? = nil, logContext: LogContext = LogContext(), uploading bytes: [UInt8] = []
    ) {
        (token, self.task, self.bytes) = (task.token, task, bytes)
        (self.image, self.slot, self.logContext) = (image, slot, logContext)
        hash = image.digest
        mayBeShared =
            slot == nil && !logContext.isSampled && bytes.isEmpty && !options.detach
            && image.mayBeShared
        millisecondsLeft = image.timeoutMilliseconds
        loadOptions = options
        loadOptions.uploadBytes = UInt64(bytes.count)
    }

    /// The slot, while the load may still cancel others in it. `nil` once the load is sent again,
    /// because loads that entered the slot since must not be canceled.
    private var namedSlot: String? { loadOptions.namesSlot ? slot : nil }

    /// The message to send.
    var message: LoadRequest {
        var image = image
        image.timeoutMilliseconds = millisecondsLeft
        return LoadRequest(
            token: token, group: loadOptions.group, image: image,
            wantsProgress: loadOptions.wantsProgress,
            wantsInfo: loadOptions.wantsInfo, staleRetries: loadOptions.staleRetries,
            detach: loadOptions.detach,
            wantsChunks: loadOptions.wantsChunks, uploadBytes: loadOptions.uploadBytes,
            slot: namedSlot, logContext: logContext, httpClient: loadOptions.httpClient)
    }

    /// Whether repeating an earlier answer is sufficient for this load.
    var mayBeRepeated: Bool {
        namedSlot == nil && loadOptions.uploadBytes == 0 && !loadOptions.wantsChunks
    }
}

extension PendingLoad: Equatable {
    static func == (one: PendingLoad, other: PendingLoad) -> Bool { one === other }
}

/// The options of a load besides its image, token and slot; for their meaning see `LoadRequest`.
/// Contains no reference-counted fields, because it is compared and copied with every load.
struct LoadOptions: Equatable {
    var group: GroupID?
    var wantsProgress = false
    var wantsInfo = false
    var detach = false
    var uploadBytes: UInt64 = 0
    var httpClient: UInt64 = 0
    var staleRetries: UInt8 = 0
    var wantsChunks = false
    /// Whether the message includes the slot.
    var namesSlot = true
}

/// A queue from which elements can also be removed by the number assigned on insertion.
///
/// Appending and removing the first element take amortized constant time. Removing any other
/// element takes a binary search and leaves a gap; gaps are compacted once they outnumber the
/// elements.
struct NumberedQueue<Element> {
    /// Elements in ascending order of number; `nil` marks a gap.
    private var places: [(number: Int, element: Element?)] = []
    /// The index of the first element; everything before it is a gap.
    private var head = 0
    private var nextNumber = 0
    private(set) var count = 0
    /// The number of entries visited so far; a test checks its bound.
    private(set) var visitCount = 0

    var isEmpty: Bool { count == 0 }

    /// The number assigned most recently.
    var lastNumber: Int { nextNumber - 1 }

    /// The first element; `nil` if there is none.
    var first: Element? { head < places.count ? places[head].element : nil }

    /// Appends an element and returns its number.
    mutating func append(_ element: Element) -> Int {
        visitCount += 1
        places.append((nextNumber, element))
        count += 1
        nextNumber += 1
        return lastNumber
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        clear(head)
        return first
    }

    /// Removes the element with a number if it is still present and satisfies `isMeant`.
    ///
    /// - Returns: Whether it was removed.
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

    /// All elements in order.
    var elements: [Element] { places[head...].compactMap(\.element) }

    /// Removes all elements and returns them in order.
    mutating func removeAll() -> [Element] {
        let elements = elements
        visitCount += places.count
        (places, head, count) = ([], 0, 0)
        return elements
    }

    private static var gapsMin: Int { 32 }
}
