import Model
import Testing

@testable import Imagebus

@Suite struct PendingLoadTests {
    /// Each property differs from the default, so that none is missed.
    @Test func aLoadIsSentAsItWasAskedFor() {
        let number = Identifier128(high: 1, low: 2)
        let plain = LoadRequest(
            token: Token(Identifier128(high: 1, low: 1)), image: ImageRequest(url: "http://a/b"))
        let full = LoadRequest(
            token: Token(number), group: GroupID(number), image: ImageRequest(url: "http://a/c"),
            wantsProgress: true, wantsInfo: true, staleRetries: 1, detach: true, wantsChunks: true,
            uploadBytes: 2, slot: "a",
            logContext: LogContext(
                trace: TraceContext(trace: number, parent: 1, flags: 0),
                requestID: RequestID(text: "a"), isProbe: true),
            httpClient: 3)
        let same = zip(Mirror(reflecting: plain).children, Mirror(reflecting: full).children)
            .filter { "\($0.value)" == "\($1.value)" }
        #expect(same.compactMap(\.0.label) == [])
        #expect(PendingLoad(full).message == full && PendingLoad(plain).message == plain)
    }

    @Test func itGoesAgainWithTheTimeThatIsLeftAndWithoutItsSlot() {
        let asked = LoadRequest(
            token: Token(Identifier128(high: 1, low: 1)), image: ImageRequest(url: "http://a/b"),
            slot: "a")
        let load = PendingLoad(asked)
        load.millisecondsLeft = 7
        load.loadOptions.namesSlot = false
        #expect(load.message.slot == nil && load.slot == "a" && load.mayBeRepeated)
        #expect(load.message.image.timeoutMilliseconds == 7)
        #expect(load.image.timeoutMilliseconds == 30_000)
    }
}
