import Model
import Testing

@Suite struct ErrorTests {
    private func answered(_ status: String?) -> ImageError {
        ImageError(
            .invalidDownloadStatusCode, "", details: status.map { ["httpStatus": $0] } ?? [:])
    }

    @Test(
        arguments: [
            ("404", false, 66), ("429", true, 75), ("499", false, 66), ("500", true, 75),
            ("503", true, 75), ("x", false, 66), (nil, false, 66),
        ] as [(String?, Bool, Int32)])
    func anOriginThatMayRecoverIsWorthARetry(status: String?, retryable: Bool, exit: Int32) {
        #expect(answered(status).retryable == retryable)
        #expect(answered(status).exitStatus == exit)
    }

    @Test func theStatusOfAnOriginIsReadForItsOwnCodeOnly() {
        let error = ImageError(.badImageData, "", details: ["httpStatus": "500"])
        #expect(!error.retryable)
        #expect(error.exitStatus == 65)
    }

    @Test func namesAndDomainsAreUnambiguous() {
        #expect(Set(ErrorCode.allCases.map(\.rule.name)).count == ErrorCode.allCases.count)
        #expect(ErrorCode.cancelled.domain == "SDWebImageErrorDomain")
        #expect(ErrorCode.busy.domain == "ImagebusErrorDomain")
        for code in ErrorCode.allCases { #expect(code.rule.name == "\(code)") }
    }

    @Test func headersOfARequestAreTokensAndCleanValues() {
        #expect(HTTPHeader(name: "X-Trace_1", value: "a\tb é").isValid)
        #expect(HTTPHeader(name: "A", value: "").isValid)
        for name in ["", "a b", "a:", "é", "a\n"] {
            #expect(!HTTPHeader(name: name, value: "v").isValid)
        }
        for value in ["a\r\nb", "\0", "\u{7F}"] {
            #expect(!HTTPHeader(name: "a", value: value).isValid)
        }
    }

    @Test func tiersHaveTheirNames() {
        let tiers: [CacheTypes] = [.none, .disk, .memory, .all]
        #expect(tiers.map(\.name) == ["none", "disk", "memory", "all"])
        #expect(tiers.map(\.rawValue) == [0, 1, 2, 3])
    }
}
