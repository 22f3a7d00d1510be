import Reporting
import Testing

/// The JSON of values of all kinds. The expected texts are those of Foundation's `JSONEncoder` with
/// sorted keys and without escaped slashes, after `PlainText.line`, since users know that form.
@Suite struct JSONTextTests {
    @Test(arguments: texts + numbers + collections)
    func aValueIsPrintedAsEver(_ one: JSONCase) throws {
        #expect(try JSONText.text(one.value) == one.text + "\n")
    }

    private static func characters(_ range: Range<UInt32>) -> String {
        String(String.UnicodeScalarView(range.compactMap(Unicode.Scalar.init)))
    }

    private static let texts = [
        JSONCase(
            characters(0..<16),
            #""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007"#
                + #"\b\t\n\u000b\f\r\u000e\u000f""#),
        JSONCase(
            characters(16..<32),
            #""\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017"#
                + #"\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f""#),
        JSONCase(
            "quote \" backslash \\ slash / \\u001B \\\"",
            #""quote \" backslash \\ slash / \\u001B \\\"""#),
        JSONCase(
            "\u{7F}\u{80}\u{85}\u{9F}|\u{2028}\u{2029}\u{202E}\u{200E}\u{200F}\u{061C}\u{2066}",
            #""\u007f\u0080\u0085\u009f|\u2028\u2029\u202e\u200e\u200f\u061c\u2066""#),
        JSONCase(
            "\u{FEFF}é\u{301}\u{FFFF}\u{1F600}\u{E000}",
            "\"\u{FEFF}é\u{301}\u{FFFF}\u{1F600}\u{E000}\""),
        JSONCase("", #""""#),
        JSONCase(
            ["1.5", "1e5", "-0.0", "1.0", "\"1.0\"", "a\"1.0"],
            #"["1.5","1e5","-0.0","1.0","\"1.0\"","a\"1.0"]"#),
    ]

    private static let numbers = [
        JSONCase([0.0, -0.0, 1, 5, 100, -2.5, 12.345], "[0,-0,1,5,100,-2.5,12.345]"),
        JSONCase(
            [0.1, 0.1 + 0.2, 1.0 / 3, 1_234_567.891],
            "[0.1,0.30000000000000004,0.3333333333333333,1234567.891]"),
        JSONCase(
            [1e15, 1e16, 1e17, 123_456_789_012_345_680, 9_007_199_254_740_992, 1e21],
            "[1000000000000000,1e+16,1e+17,1.2345678901234568e+17,9007199254740992,1e+21]"),
        JSONCase(
            [1e-4, 1e-5, 1.5e-7, 1.5e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude],
            "[0.0001,1e-05,1.5e-07,1.5e+300,5e-324,1.7976931348623157e+308]"),
        JSONCase(
            [Int64.min, Int64.max, 0, -1], "[-9223372036854775808,9223372036854775807,0,-1]"),
        JSONCase([UInt64(Int64.max), 18], "[9223372036854775807,18]"),
        JSONCase([UInt32.max], "[4294967295]"),
        JSONCase([Int8.min], "[-128]"),
        JSONCase([UInt16.max], "[65535]"),
        JSONCase(1.5, "1.5"),
        JSONCase(7, "7"),
    ]

    private static let collections = [
        JSONCase(
            [
                "b": 1, "a": 2, "A": 3, "a10": 4, "a9": 5, "_": 6, "é": 7, "": 8, "a b": 9,
                "z\"\n": 10, "ab": 11, "\u{10000}": 12, "\u{FFFF}": 13,
            ],
            #"{"":8,"A":3,"_":6,"a":2,"a b":9,"a10":4,"a9":5,"ab":11,"b":1,"z\"\n":10,"é":7,"#
                + "\"\u{FFFF}\":13,\"\u{10000}\":12}"),
        JSONCase([String](), "[]"),
        JSONCase(["k": [String: Int]()], #"{"k":{}}"#),
        JSONCase([Int?.none, 3], "[null,3]"),
        JSONCase(Int?.none, "null"),
        JSONCase([true, false], "[true,false]"),
        JSONCase([[1.5], []], "[[1.5],[]]"),
        JSONCase(
            MixedMembers(),
            #"{"flags":[true,false],"inner":{"none/of_it":null},"kind":"large","present":5,"#
                + #""shares":{"a":1,"b":0.25},"zeta":"last"}"#),
        JSONCase(MoreMembers(), #"{"more":{"x":{"y":1}},"none/of_it":null}"#),
    ]
}
