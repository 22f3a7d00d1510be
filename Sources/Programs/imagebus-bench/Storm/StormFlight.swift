import ImageModel
import Imagebus
import Linux
import StackAccess

/// One load of a storm, and what has to come.
struct StormLoad: Sendable {
    var request: ImageRequest
    let expected: [UInt8]
}

/// Begins all loads at once and waits for all of them.
enum StormFlight {
    static func run(_ loads: [StormLoad], _ clients: [ImagebusClient]) async -> StormFigures {
        let start = MonotonicClock.now()
        var figures = await withTaskGroup(of: Reply.self) { group in
            for (number, load) in loads.enumerated() {
                let client = clients[number % clients.count]
                group.addTask { await reply(to: load, client, since: start) }
            }
            return await group.reduce(into: StormFigures()) { $0.count($1) }
        }
        figures.seconds = Double(MonotonicClock.now() - start) / 1e9
        return figures
    }

    /// How a load ended.
    struct Reply: Sendable {
        let nanoseconds: UInt64
        /// nil where it failed.
        let bytes: Int?
        let isRight: Bool
    }

    private static func reply(
        to load: StormLoad, _ client: ImagebusClient, since start: UInt64
    ) async -> Reply {
        let image = try? await client.load(load.request).response
        let took = MonotonicClock.now() - start
        guard let image else {
            return Reply(nanoseconds: took, bytes: nil, isRight: false)
        }
        let isRight = image.withBytes { bytes in
            load.expected.withUnsafeBytes { areEqual($0, bytes) }
        }
        return Reply(nanoseconds: took, bytes: image.bytes?.count ?? 0, isRight: isRight)
    }

    /// Eight bytes at a time: all replies are looked at while others are on their way.
    static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        let whole = a.count & ~7
        for offset in stride(from: 0, to: whole, by: 8)
        where a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            != b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        { return false }
        return a[whole...].elementsEqual(b[whole...])
    }
}
