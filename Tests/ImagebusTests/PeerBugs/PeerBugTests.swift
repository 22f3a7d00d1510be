import Model
import StackKit
import Synchronization
import TestKit
import Testing

@testable import Imagebus

/// Regression tests for bugs of comparable libraries, numbered as in `PEERS.md`: those that can be
/// reproduced without a stack.
@Suite struct PeerBugTests {
    private let commands: CommandQueue

    init() throws { commands = try CommandQueue(commandsMax: 16) }

    private func load(_ number: UInt64 = 1) -> LoadRequest {
        LoadRequest(
            token: token(number), image: ImageRequest(url: "http://a.test/\(number)"))
    }

    /// Late subscribers get the result through every interface of a task.
    @Test(.timeLimit(.minutes(1)))
    func bug01_whoListensAfterTheEndHearsIt() async throws {
        let task = LoadTask(token: token(1), commands: commands)
        task.finish(.success(SlotScript.image("A")))
        #expect(try await task.response.key == "A")
        #expect(try task.waitForResponse().key == "A")
        var ends = 0
        for await event in task.events { if case .end(.success) = event { ends += 1 } }
        for await event in task.events { if case .end(.success) = event { ends += 1 } }
        #expect(ends == 2, "each stream ends separately")
        for await _ in task.progress { Issue.record("there is no progress") }
        for await _ in task.partials { Issue.record("there is no partial image") }
        var keys: [String] = []
        for try await response in task.responses { keys.append(response.key) }
        #expect(keys == ["A"])
    }

    /// Priority changes are sent in order; one that comes before the load was sent, or between two
    /// sessions, is part of the sent load.
    @Test func bug02_changesOfPriorityKeepTheirOrder() {
        var pending = PendingRequests(window: nil)
        let load = load()
        func sent(_ actions: PendingRequests.Actions) -> [Priority] {
            actions.compactMap { action in
                switch action {
                case .load(let load): load.message.image.priority
                case .send(.reprioritize(_, let priority)): priority
                default: nil
                }
            }
        }
        _ = pending.submitted(load, at: at(0))
        #expect(sent(pending.reprioritized(load.token, .high)) == [])
        #expect(sent(pending.reprioritized(load.token, .low)) == [])
        #expect(sent(pending.welcomed(welcome(), at: at(0))) == [.low])
        let changes: [Priority] = [.high, .normal, .low, .high]
        #expect(changes.flatMap { sent(pending.reprioritized(load.token, $0)) } == changes)
        _ = pending.sessionEnded(at: at(0))
        _ = pending.reprioritized(load.token, .normal)
        #expect(sent(pending.welcomed(welcome(), at: at(0))) == [.normal])
    }

    /// A partial image that arrives after the end is dropped.
    @Test func bug03_noPreviewComesBehindTheImage() {
        let log = Mutex<[String]>([])
        let callbacks = LoadCallbacks(
            on: .inline, progress: nil,
            partial: { partial in log.withLock { $0.append(partial.key) } },
            cached: { cached in log.withLock { $0.append(cached.key) } },
            completion: { result in
                log.withLock { $0.append((try? result.get())?.key ?? "failure") }
            })
        let task = LoadTask(token: token(1), commands: commands, callbacks: callbacks)
        task.receivedPartial(SlotScript.image("half"))
        task.finish(.success(SlotScript.image("whole")))
        task.receivedPartial(SlotScript.image("late"))
        task.receivedCached(SlotScript.image("later"))
        #expect(log.withLock { $0 } == ["half", "whole"])
        #expect(task.cachedResponse == nil)
    }

    /// However many completions arrive from however many threads, exactly one is reported and kept.
    @Test func bug04_aCompletionIsCalledOnce() async {
        for _ in 0..<200 {
            let reported = Recorder<String>()
            let callbacks = LoadCallbacks(on: .inline, progress: nil) { result in
                reported.append(Self.name(result))
            }
            let task = LoadTask(token: token(1), commands: commands, callbacks: callbacks)
            await withTaskGroup { group in
                for number in 0..<4 {
                    group.addTask {
                        let error = ImageError(.cancelled, "\(number)")
                        let image = SlotScript.image("\(number)")
                        task.finish(number < 2 ? .failure(error) : .success(image))
                    }
                }
            }
            let end = Result { () throws(ImageError) in try task.waitForResponse() }
            #expect(reported.values == [Self.name(end)])
        }
    }

    private static func name(_ result: Result<ImageResponse, ImageError>) -> String {
        switch result {
        case .success(let response): response.key
        case .failure(let error): error.message
        }
    }

    /// A cancel before the load was sent takes effect.
    @Test func bug06_aCancelBeforeTheSendEndsTheLoadAndNothingIsSent() {
        var pending = PendingRequests(window: nil)
        _ = pending.submitted(load(), at: at(0))
        let ends = pending.cancelled(load().token)
        #expect(ends.count == 1 && pending.isEmpty)
        #expect(pending.welcomed(welcome(), at: at(0)) == [])
    }

    /// Loads that fail immediately leave nothing in any table: with a closed client, without a URL,
    /// and with too many keys.
    @Test func bug07_whatEndsAtOnceLeavesNothingBehind() async throws {
        let client = try ImagebusClient(
            ClientConfiguration(endpoint: "/nowhere/front.sock", resultsDirectory: "/nowhere"))
        client.close(waitingMilliseconds: 60_000)
        let ends = Recorder<ErrorCode?>()
        let slot = ImageSlot<String>(client, on: .inline) { _, _ in }
        for url in ["http://a.test/1", "", "http://a.test/2"] {
            slot.load(ImageRequest(url: url)) { answer in
                if case .failure(let error) = answer.result { ends.append(error.code) }
            }
        }
        #expect(ends.values == [.cancelled, .invalidURL, .cancelled])
        let isEmpty = slot.state.withLock { state in
            state.tasks.isEmpty && state.actions.isEmpty && !state.isActing
        }
        #expect(isEmpty && slot.state()?.loads == 0)
        weak var task: LoadTask?
        do {
            let own = client.load("http://a.test/3")
            task = own
            #expect(await own.errorCode == .cancelled)
        }
        #expect(task == nil, "no reference is left")
        var pending = PendingRequests(window: nil)
        _ = pending.submitted(load(), at: at(0))
        _ = pending.cancelled(load().token)
        #expect(pending.isEmpty)
    }

    /// Different steps have different keys, even if a text in one looks like the key of another, or
    /// numbers differ only in the last significant digit.
    @Test func bug09_differentSettingsHaveDifferentKeys() {
        let colors = [Color(argb: 0xFF00_0000), Color(argb: 0x0000_0000)]
        let steps: [TransformStep] =
            [0, 0.000001, 1, 1.000001, 10, 100].flatMap {
                [.blur(radius: $0), .sharpen(radius: $0), .round(radius: $0)]
            }
            + [0.000001, 0.5, 0.500001].flatMap {
                [
                    .vignette($0), .sharpen(radius: 1, amount: $0), .modulate(lightness: $0),
                    .modulate(saturation: $0), .modulate(hue: $0),
                    .monochrome(.white, intensity: $0),
                    .colorMatrix(.duotone(dark: .white, light: .white, intensity: $0)),
                ]
            }
            + colors.flatMap { color in
                [
                    .tint(color), .tint(color, .multiply), .flatten(color),
                    .round(radius: 1, border: 1, color), .round(radius: 1, .topLeft, color),
                ]
            }
            + [
                .flip(horizontal: true, vertical: false), .flip(horizontal: false, vertical: true),
                .flip(horizontal: true, vertical: true), .grayscale, .sepia, .invert,
                .crop(PixelRect(x: 1, y: 11, size: PixelSize(width: 1, height: 1))),
                .crop(PixelRect(x: 11, y: 1, size: PixelSize(width: 1, height: 1))),
                .crop(PixelRect(x: 1, y: 1, size: PixelSize(width: 11, height: 1))),
                .crop(PixelRect(x: 1, y: 1, size: PixelSize(width: 1, height: 11))),
                .resize(PixelSize(width: 1, height: 23), .fit, enlarges: false),
                .resize(PixelSize(width: 12, height: 3), .fit, enlarges: false),
                .resize(PixelSize(width: 12, height: 3), .fill, enlarges: false),
                .resize(PixelSize(width: 12, height: 3), .fit, enlarges: true),
                .overlay(Overlay(url: "http://a.test/1,{0.000000,0.000000},1.000000)", x: 0, y: 0)),
                .overlay(Overlay(url: "http://a.test/1", x: 0, y: 0)),
                .overlay(Overlay(url: "http://a.test/1", x: 1, y: 0)),
                .custom(CustomStep("a.b", parameters: ["k": "1"])),
                .custom(CustomStep("a.b", parameters: ["k": "1", "l": "2"])),
                .custom(CustomStep("a.b", parameters: ["kl": "12"])),
                .custom(CustomStep("a.bk", parameters: ["k": "1"])),
            ]
        var known: [String: TransformStep] = [:]
        for step in steps {
            if let other = known[step.key] { Issue.record("\(step) and \(other): \(step.key)") }
            known[step.key] = step
        }
        var pairs: [String: [TransformStep]] = [:]
        for (first, second) in zip(steps, steps.dropFirst()) {
            for list in [[first, second], [second, first], [first, first, second]] {
                let key = list.map(\.key).joined(separator: "-")
                #expect(pairs.updateValue(list, forKey: key) == nil, "\(key)")
            }
        }
        // The position of the first separator is unambiguous.
        #expect(steps.allSatisfy { !$0.key.contains(")-") && $0.key.hasSuffix(")") })
    }
}
