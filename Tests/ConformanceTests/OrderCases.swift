import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// The order in which transfers start, for a host with one transfer at a time.
    @Suite struct OrderCases {
        private let gallery: Gallery
        private let begun = Recorder<String>()

        init() throws { gallery = try Gallery() }

        private func route(_ name: String, _ gate: Gate? = nil) {
            let behavior: OriginBehavior =
                gate.map { .hangBody(until: $0, then: gallery.image) }
                ?? .bytes(gallery.image)
            gallery.origin.route(
                "/\(name)", behavior.observed { [begun] in begun.append($0.path) })
        }

        private func request(_ name: String, _ options: RequestOptions = []) -> ImageRequest {
            var request = ImageRequest(url: gallery.url("/\(name)"))
            request.options = options.union(.fromLoaderOnly)
            return request
        }

        private func awaitWaiting(_ count: Int, _ stack: StackHarness) async throws {
            _ = try await stack.awaitStatus("\(count) transfers that wait") {
                $0.counter("queued.fetch") == count
            }
        }

        private let oneAtATime = ["--allow-private-networks", "--fetches-per-host", "1"]

        /// Last in, first out: with 1 to 7 submitted, and 8 to 14 once 7 has started, the order is
        /// 1, 7, 14 to 8, 6 to 2.
        @Test func case034_theNewestGoesFirstAndNothingThatRunsIsStopped() async throws {
            let gates = [1: Gate(), 7: Gate()]
            for number in 1...14 { route("case034-\(number)", gates[number]) }
            try await withStack(oneAtATime + ["--fetch-order", "lifo"], decoders: 1) { stack in
                let client = try stack.client()
                func load(_ numbers: ClosedRange<Int>) -> [LoadTask] {
                    numbers.map { client.load(request("case034-\($0)")) }
                }
                var tasks = load(1...1)
                #expect(await gallery.origin.waitForRequest("/case034-1"))
                tasks += load(2...7)
                try await awaitWaiting(6, stack)
                gates[1]?.open()
                #expect(await gallery.origin.waitForRequest("/case034-7"))
                tasks += load(8...14)
                try await awaitWaiting(12, stack)
                gates[7]?.open()
                for task in tasks { #expect(await task.errorCode == nil) }
            }
            let order = [1, 7, 14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2]
            #expect(begun.values == order.map { "/case034-\($0)" })
        }

        /// Bits 1 and 7: high priority before normal before low, regardless of the order of
        /// arrival; both bits together mean high.
        @Test func classesGoInTheirOrder() async throws {
            let gate = Gate()
            route("first", gate)
            let wishes: [(String, RequestOptions)] = [
                ("low", .lowPriority), ("normal", []), ("high", .highPriority),
                ("both", [.lowPriority, .highPriority]),
            ]
            for (name, _) in wishes { route(name) }
            try await withStack(oneAtATime, decoders: 1) { stack in
                let client = try stack.client()
                let first = client.load(request("first"))
                #expect(await gallery.origin.waitForRequest("/first"))
                let tasks = wishes.map { client.load(request($0.0, $0.1)) }
                try await awaitWaiting(4, stack)
                gate.open()
                for task in [first] + tasks { #expect(await task.errorCode == nil) }
            }
            #expect(begun.values == ["/first", "/high", "/both", "/normal", "/low"])
        }
    }
}
