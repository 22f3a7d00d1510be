import Model
import Testing

/// W3C Trace Context §3.2.
@Suite struct TraceContextTests {
    private let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func itIsReadAndWrittenAlike() {
        #expect(TraceContext(text: text)?.text == text)
        #expect(TraceContext(text: text)?.parent == 0xB7AD_6B71_6920_3331)
    }

    @Test func aLaterVersionMayBeLonger() {
        #expect(TraceContext(text: "cc" + text.dropFirst(2) + "-what")?.text == text)
        #expect(TraceContext(text: text + "-what") == nil)
        #expect(TraceContext(text: "cc" + text.dropFirst(2) + "what") == nil)
    }

    @Test(arguments: [
        "", "00", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
    ])
    func whatIsNoTraceIsNone(_ text: String) {
        #expect(TraceContext(text: text) == nil)
    }
}
