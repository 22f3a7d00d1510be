import Synchronization

/// An HTTP client that requests images from a gateway at a steady pace, one at a time, from its own
/// address, for tests that attack the gateway meanwhile.
struct HonestHTTPClient: Sendable {
    /// The port of the gateway on 127.0.0.1.
    let port: UInt16
    /// The last byte of its address, 127.0.0.N.
    var lastByte: UInt8 = 7
    /// Header lines of its requests, each with its line break.
    var fields = ""
    /// The time between the starts of two requests; a delayed request is sent at once.
    var interval = Duration.milliseconds(50)

    /// The results of its requests.
    struct Result: Sendable, CustomStringConvertible {
        /// The durations of successful requests, shortest first.
        fileprivate(set) var times: [Duration] = []
        /// The responses that weren't images.
        fileprivate(set) var failures: [String] = []

        var p50: Duration { percentile(50) }
        var p99: Duration { percentile(99) }

        private func percentile(_ share: Int) -> Duration {
            times.isEmpty ? .zero : times[times.count * share / 100]
        }

        var description: String {
            "\(times.count) answered, \(failures.count) failed, p50 \(p50), p99 \(p99)"
        }
    }

    /// Requests `target(0)`, `target(1)` and so on, each on its own connection, at most `count` of
    /// them and none after `isOver` returns true.
    func load(
        _ count: Int, until isOver: @escaping @Sendable () -> Bool = { false },
        _ target: @escaping @Sendable (Int) -> String
    ) async -> Result {
        await BackgroundThread.value {
            var result = Result()
            var pause = PollingPause()
            let start = ContinuousClock.now
            for number in 0..<count {
                while ContinuousClock.now < start + interval * number { pause.wait() }
                if isOver() { break }
                let began = ContinuousClock.now
                if let failure = failure(of: target(number)) {
                    result.failures.append("request \(number): \(failure)")
                } else {
                    result.times.append(ContinuousClock.now - began)
                }
                pause = PollingPause()
            }
            result.times.sort()
            return result
        }
    }

    /// What arrived instead of a complete image; nil on success.
    private func failure(of target: String) -> String? {
        guard let client = try? RawClient(port: port, from: lastByte) else {
            return "no connection"
        }
        client.get(target, fields)
        let answer = client.whole()
        guard answer.status == 200 else {
            return "\(answer.status) \(String(decoding: answer.body.prefix(200), as: UTF8.self))"
        }
        guard answer.field("Content-Length") == "\(answer.body.count)" else {
            return "\(answer.body.count) bytes of \(answer.field("Content-Length") ?? "unknown")"
        }
        return nil
    }
}

extension HonestHTTPClient.Result {
    /// The extra time permitted in the short run, whatever the undisturbed duration is, since other
    /// processes may use the machine. The long run checks the guarantee itself: a factor of three.
    private static let allowance = Duration.seconds(5)

    /// Prints both results and expects of this one, measured during an attack: no failure, and a
    /// p99 of at most three times the undisturbed one. In the short run it may also be within the
    /// allowance and, with a single worker, the duration of one job of the attack, which depends on
    /// the machine: a request waits for the job that is running, not for the ones behind it.
    func expectUndisturbed(
        than undisturbed: Self, beside attack: String, longestJob: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let permitted = Effort.isLong ? .zero : Self.allowance + longestJob
        print("beside \(attack): \(self); undisturbed: \(undisturbed)")
        #expect(failures.isEmpty, sourceLocation: sourceLocation)
        #expect(undisturbed.failures.isEmpty, sourceLocation: sourceLocation)
        #expect(!times.isEmpty && !undisturbed.times.isEmpty, sourceLocation: sourceLocation)
        #expect(
            p99 <= max(undisturbed.p99 * 3, permitted),
            "\(attack): p99 beside it", sourceLocation: sourceLocation)
    }
}

/// The longest duration of the operations of a thread.
final class LongestDuration: Sendable {
    private let longest = Mutex(Duration.zero)

    /// The longest so far.
    var value: Duration { longest.withLock { $0 } }

    /// Runs the operation and counts its duration.
    func measure<Result>(_ operation: () -> Result) -> Result {
        let began = ContinuousClock.now
        defer {
            let duration = ContinuousClock.now - began
            longest.withLock { $0 = max($0, duration) }
        }
        return operation()
    }
}
