/// Which frames of an animation are held and which are loaded, within a number of bytes. A value:
/// it says what is to be loaded and cancelled, and does neither.
///
/// The frame that is seen is always held, however large. Every other one is only held, and only
/// loaded, where its bytes have room beside that. The one that is seen last of all goes first.
package struct FrameBuffer<Frame> {
    /// What is to be done.
    package struct Orders: Equatable {
        /// Frames whose load begins, the most urgent one first.
        package var loads: [Int] = []
        /// Frames whose load ends without a result.
        package var cancels: [Int] = []
    }

    private struct Held {
        let frame: Frame
        let bytes: Int
    }

    /// What frames may take together; the seen one may take more alone.
    package let bytesMax: Int
    /// What the held frames take.
    package private(set) var bytes = 0

    private let loadsMax: Int
    private let estimate: Int
    private var largest = 0
    private var held: [Int: Held] = [:]
    private var loading: Set<Int> = []

    /// - Parameters:
    ///   - estimate: bytes of a frame, until one has come.
    ///   - loadsMax: loads at a time, the one of the seen frame apart.
    package init(bytesMax: Int, estimate: Int, loadsMax: Int) {
        (self.bytesMax, self.estimate, self.loadsMax) = (bytesMax, max(1, estimate), loadsMax)
    }

    /// A frame that is held.
    package subscript(index: Int) -> Frame? { held[index]?.frame }

    /// Frames that are held, in order of the file.
    package var indices: [Int] { held.keys.sorted() }

    /// Frames that have room, if all are as large as the largest one so far; at least one.
    package var capacity: Int { max(1, bytesMax / frameBytes) }

    private var frameBytes: Int { largest > 0 ? largest : estimate }

    /// What is to be done so that `seen` is there, and as many of `next` as have room. Loads of
    /// other frames are cancelled.
    package mutating func want(
        _ seen: Int, then next: [Int], steps: (Int) -> Int
    ) -> Orders {
        let wanted = [seen] + next.prefix(capacity - 1)
        var orders = Orders()
        orders.cancels = loading.subtracting(wanted).sorted()
        loading.subtract(orders.cancels)
        for index in wanted where held[index] == nil && !loading.contains(index) {
            guard index == seen || loading.count < loadsMax else { break }
            loading.insert(index)
            orders.loads.append(index)
        }
        makeRoom(keeping: Set(wanted), steps: steps)
        return orders
    }

    /// A frame has come. One whose load was cancelled is not taken.
    package mutating func take(_ frame: Frame, bytes: Int, at index: Int, steps: (Int) -> Int) {
        guard loading.remove(index) != nil else { return }
        held[index] = Held(frame: frame, bytes: max(0, bytes))
        self.bytes += max(0, bytes)
        largest = max(largest, bytes)
        makeRoom(keeping: [], steps: steps)
    }

    /// A load has ended without a frame.
    package mutating func giveUp(_ index: Int) { loading.remove(index) }

    /// Forgets all frames. Returns those whose load is to be cancelled.
    package mutating func clear() -> [Int] {
        defer { (held, loading, bytes) = ([:], [], 0) }
        return loading.sorted()
    }

    /// Frames go, the latest one first, until what is held and what is loaded have room.
    private mutating func makeRoom(keeping kept: Set<Int>, steps: (Int) -> Int) {
        while isFull {
            let others = held.keys.filter { !kept.contains($0) && steps($0) > 0 }
            guard let last = others.max(by: { steps($0) < steps($1) }),
                let gone = held.removeValue(forKey: last)
            else { return }
            bytes -= gone.bytes
        }
    }

    private var isFull: Bool {
        let (coming, overflows) = loading.count.multipliedReportingOverflow(by: frameBytes)
        return overflows || coming > bytesMax - bytes
    }
}
