import Model
import Testing

@Suite struct RequestIDTests {
    @Test(arguments: ["a", "-", "0af7651916cd43dd-8448.eb21~1c/8+0=3:1@9_c"])
    func aTokenIsOne(text: String) { #expect(RequestID(text: text)?.text == text) }

    @Test(arguments: ["", " ", "a b", "a,b", "a\"", "a\n", "a{", "é", "a;b", "<a>"])
    func otherTextsAreNone(text: String) { #expect(RequestID(text: text) == nil) }

    @Test func itIsShort() {
        #expect(RequestID(text: String(repeating: "a", count: 128)) != nil)
        #expect(RequestID(text: String(repeating: "a", count: 129)) == nil)
    }

    @Test func aNumberIsItsDigits() {
        #expect(
            RequestID(Identifier128(high: 1, low: 0xABC)).text
                == "00000000000000010000000000000abc")
    }
}
