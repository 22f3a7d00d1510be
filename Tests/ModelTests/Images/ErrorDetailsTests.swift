import Model
import Testing

/// The details of errors with their types, and their texts on the wire.
@Suite struct ErrorDetailsTests {
    /// Checks that a value is written as this text and read from it, and that `nil` removes it.
    /// Returns the name.
    private static func check<Value: Equatable>(
        _ path: WritableKeyPath<ErrorDetails, Value?>, _ value: Value, _ name: String,
        _ text: String
    ) -> String {
        var details = ErrorDetails(["vendor": "x"])
        details[keyPath: path] = value
        #expect(details.texts == [name: text, "vendor": "x"])
        #expect(details[keyPath: path] == value, "\(name)")
        #expect(ErrorDetails([name: text])[keyPath: path] == value, "\(name)")
        details[keyPath: path] = nil
        #expect(details.texts == ["vendor": "x"])
        return name
    }

    @Test func everyDetailHasItsNameAndText() {
        let names = [
            Self.check(\.ageSeconds, 7, "age", "7"),
            Self.check(\.attempt, 3, "attempt", "3"),
            Self.check(\.bornMilliseconds, 1_700_000_000_123, "born", "1700000000123"),
            Self.check(\.cacheControl, "max-age=60", "cacheControl", "max-age=60"),
            Self.check(\.coders, "mine, other", "coders", "mine, other"),
            Self.check(\.contentType, "text/html", "contentType", "text/html"),
            Self.check(\.curlCode, 7, "curl", "7"),
            Self.check(\.errno, 111, "errno", "111"),
            Self.check(\.expiresInSeconds, 0, "expiresIn", "0"),
            Self.check(\.fallback, "miss", "fallback", "miss"),
            Self.check(\.format, "psd", "format", "psd"),
            Self.check(\.frame, 0, "frame", "0"),
            Self.check(\.header, "Range", "header", "Range"),
            Self.check(\.httpStatus, 404, "httpStatus", "404"),
            Self.check(\.left, 700, "left", "700"),
            Self.check(\.limit, "pixelsMax", "limit", "pixelsMax"),
            Self.check(\.operation, "load", "operation", "load"),
            Self.check(\.option, "imageLoader", "option", "imageLoader"),
            Self.check(\.overlay, "tlsFailed", "overlay", "tlsFailed"),
            Self.check(\.part, ErrorDetails.Part.body, "part", "body"),
            Self.check(\.part, ErrorDetails.Part.pixels, "part", "pixels"),
            Self.check(\.permitted, 100_000, "permitted", "100000"),
            Self.check(\.pool, "decode", "pool", "decode"),
            Self.check(\.proxy, "127.0.0.1:8080", "proxy", "127.0.0.1:8080"),
            Self.check(\.proxyStatus, 407, "proxyStatus", "407"),
            Self.check(\.reason, "badImageData", "reason", "badImageData"),
            Self.check(\.removed, 5, "removed", "5"),
            Self.check(\.retryAfterSeconds, 0.1, "retryAfter", "0.1"),
            Self.check(\.retryAfterSeconds, 30, "retryAfter", "30.0"),
            Self.check(\.retryAfterWholeSeconds, 60, "retryAfter", "60"),
            Self.check(\.setting, "pixel-limit", "setting", "pixel-limit"),
            Self.check(\.step, "blur", "step", "blur"),
            Self.check(\.value, 100_001, "value", "100001"),
        ]
        let retryAfterTwice = 1
        let fields = Mirror(reflecting: ErrorDetails.Fields.all).children.count
        #expect(Set(names).count == fields - retryAfterTwice)
    }

    @Test(arguments: ["abc", "", " 404", "4 04", "nan", "inf"])
    func whatIsNotANumberReadsAsNil(text: String) {
        let names = [
            "age", "attempt", "born", "curl", "errno", "expiresIn", "frame", "httpStatus", "left",
            "part", "permitted", "proxyStatus", "removed", "retryAfter", "value",
        ]
        let texts = Dictionary(uniqueKeysWithValues: names.map { ($0, text) })
        let details = ErrorDetails(texts)
        #expect(details.ageSeconds == nil && details.attempt == nil)
        #expect(details.bornMilliseconds == nil && details.expiresInSeconds == nil)
        #expect(details.curlCode == nil && details.errno == nil)
        #expect(details.frame == nil && details.part == nil)
        #expect(details.httpStatus == nil && details.proxyStatus == nil)
        #expect(details.removed == nil && details.left == nil)
        #expect(details.retryAfterSeconds == nil && details.retryAfterWholeSeconds == nil)
        #expect(details.value == nil && details.permitted == nil)
        #expect(details.texts == texts)
        #expect(!ImageError(.invalidDownloadStatusCode, "", details: texts).retryable)
    }

    @Test func numbersOutOfRangeReadAsNil() {
        #expect(ErrorDetails(["httpStatus": "9223372036854775808"]).httpStatus == nil)
        #expect(ErrorDetails(["errno": "2147483648"]).errno == nil)
        #expect(ErrorDetails(["removed": "-1"]).removed == nil)
        for text in ["-1", "1e400"] {
            #expect(ErrorDetails(["retryAfter": text]).retryAfterSeconds == nil)
        }
        for text in ["-1", "1.5", "4294967296"] {
            #expect(ErrorDetails(["retryAfter": text]).retryAfterWholeSeconds == nil)
        }
        #expect(ErrorDetails(["retryAfter": "60"]).retryAfterSeconds == 60)
    }

    @Test func theTextsOfAnErrorAreItsDetails() {
        var error = ImageError(.stepFailed, "no", details: ["vendor": "x", "step": "blur"])
        #expect(error.typedDetails.step == "blur")
        error.details["httpStatus"] = "404"
        #expect(error.typedDetails.httpStatus == 404)
        error.typedDetails.step = nil
        #expect(error.details == ["vendor": "x", "httpStatus": "404"])
        let described = ImageError(.stepFailed, "no") {
            $0 = error.typedDetails
            $0.httpStatus = 410
        }
        #expect(described.details == ["vendor": "x", "httpStatus": "410"])
        #expect(ImageError(.stepFailed, "no").details.isEmpty)
    }

    /// Errors are parts of many messages and results.
    @Test func anErrorIsSmall() {
        #expect(MemoryLayout<ErrorDetails>.size == MemoryLayout<[String: String]>.size)
        #expect(MemoryLayout<ImageError>.stride <= 64)
    }
}
