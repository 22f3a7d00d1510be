import Imagebus
import Linux
import Model

/// The load generator of docker/test: keeps loads in flight through the client library, for new
/// URLs and for URLs that were loaded before, and checks every reply.
///
///     stack-load --url-prefix http://127.0.0.1:8000/small/a --in-flight 64 --seconds 30
///
/// Prints `done URL nanoseconds` (CLOCK_MONOTONIC) when a new URL was answered and is on disk,
/// `failed URL why` for every failure, and one JSON object at the end. Exits 0 if nothing failed, 1
/// otherwise.
enum StackLoad {
    static func run(_ words: [String]) -> Int32 {
        do {
            let settings = try LoadSettings(words)
            let stop = try Stop()
            let client = try ImagebusClient(settings.client())
            let loads = Loads(client, settings)
            _ = try Thread(name: "stop") {
                stop.wait()
                loads.stop()
            }
            return try end(of: loads)
        } catch let refusal as LoadSettings.Refusal {
            Line.printLine("stack-load: \(refusal.text)", to: 2)
            return 64
        } catch {
            Line.printLine("stack-load: \(error)", to: 2)
            return 70
        }
    }

    /// The main thread waits here, so that it occupies no thread of the tasks.
    private final class Over: Sendable {
        let event: EventDescriptor

        init() throws(Errno) { event = try EventDescriptor() }
    }

    private static func end(of loads: Loads) throws(Errno) -> Int32 {
        let over = try Over()
        Task.detached {
            await loads.run()
            over.event.signal()
        }
        _ = try over.event.descriptor.wait(for: .readable, milliseconds: nil)
        let tally = loads.tally
        Line.printLine(tally.json)
        return tally.failures.isEmpty && tally.unstored == 0 ? 0 : 1
    }

    /// Stops the loads on a signal.
    private final class Stop: Sendable {
        let signals: SignalDescriptor

        init() throws(Errno) {
            try Signal.block([.terminate, .interrupt])
            signals = try SignalDescriptor([.terminate, .interrupt])
        }

        func wait() { _ = try? signals.descriptor.wait(for: .readable, milliseconds: nil) }
    }
}
