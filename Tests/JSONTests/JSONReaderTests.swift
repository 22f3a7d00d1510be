import JSON
import Testing

/// Parses objects of texts, and invalid input, with the real jansson.
@Suite struct JSONReaderTests {
    private func read(_ text: String) throws(JSONError) -> [String: String] {
        try JSONReader.texts(Array(text.utf8))
    }

    private func error(_ text: String) -> String? {
        do throws(JSONError) {
            _ = try read(text)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [
        ("{}", [:]),
        (" {\"a\" : \"b\", \"\":\"\"}\n", ["a": "b", "": ""]),
        (#"{"a\/\"\\\u00e9":"\n\u001F\ud83d\ude00é"}"#, ["a/\"\\é": "\n\u{1F}\u{1F600}é"]),
    ])
    func anObjectOfTextsIsRead(text: String, texts: [String: String]) throws {
        #expect(try read(text) == texts)
    }

    @Test(arguments: [
        ("", "end of file"), ("{", "end of file"), ("{\"a\":\"b\"} x", "end of file expected"),
        ("[\"a\"]", "the top-level value is not an object"), ("\"a\"", "'[' or '{' expected"),
        ("{\"a\":1}", "'a' is not a string"), ("{\"a\":{\"b\":\"c\"}}", "'a' is not a string"),
        ("{\"a\":null}", "'a' is not a string"),
        ("{\"a\":\"b\",\"a\":\"c\"}", "duplicate object key"),
        ("{'a':'b'}", "expected near"), ("{\"a\":\"\t\"}", "control character"),
        ("{\"a\":\"\\u0000\"}", "\\u0000 is not allowed"),
        ("{\"a\":\"\\ud800\"}", "invalid Unicode"),
    ])
    func whatIsNoneIsRefused(text: String, reason: String) throws {
        let error = try #require(self.error(text))
        #expect(error.contains(reason), "\(error)")
    }

    @Test func aFaultHasItsPlace() {
        #expect(error("{\n\"a\": x}")?.hasPrefix("2:6: ") == true)
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: JSONError.self) {
            try JSONReader.texts([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x22, 0x22, 0x7D])
        }
    }

    @Test func depthHasALimit() {
        let brackets = String(repeating: "[", count: 30_000)
        #expect(error("{\"a\":\(brackets)")?.contains("maximum parsing depth") == true)
    }

    @Test func bytesHaveALimit() throws {
        let blank = String(repeating: " ", count: JSONLimits.bytesMax - 2)
        #expect(try read("{}" + blank) == [:])
        #expect(error("{}" + blank + " ")?.contains("bytes") == true)
    }
}
