import CommandLineInterface
import Model
import Testing

@testable import imagebus_cli

/// The command that an error suggests.
@Suite struct AdviceTests {
    /// Errors without a remedy, or whose messages already explain the wrong input.
    private static let without: Set<ErrorCode> = [
        .cancelled, .cacheNotModified, .invalidDownloadOperation, .tokenInUse, .invalidRequest,
        .notSupported, .stale, .stepFailed, .foreignFailure, .addressForbidden, .poisoned,
        .invalidDownloadContentType, .sourceForbidden, .unsupportedScheme,
    ]

    @Test(arguments: ErrorCode.allCases) func everyErrorSaysWhatToDo(_ code: ErrorCode) {
        let advice = ImageError(code, "something").advice
        #expect((advice == nil) == Self.without.contains(code), "\(code): \(advice ?? "nothing")")
        #expect((advice?.count ?? 0) < 100 && advice?.contains("\n") != true)
    }

    /// The suggested commands and options exist.
    @Test(arguments: ErrorCode.allCases) func whatIsToBeTypedIsInTheTable(_ code: ErrorCode) {
        let details =
            [[:], ["setting": "pixel-limit"], ["step": "blur"]]
            + ["401", "404", "418", "429", "500"].map { ["httpStatus": $0] }
        for details in details {
            let words = (ImageError(code, "", details: details).advice ?? "")
                .split { " ,;()".contains($0) }.map(String.init)
            for (index, word) in words.enumerated() where word == "imagebus" {
                let next = index + 1 < words.count ? words[index + 1] : ""
                let isCommand =
                    Command.documented.contains { $0.name == next } || next == "--version"
                #expect(isCommand, "\(words)")
            }
            let names = Set(Command.documented.flatMap(\.shownDefinitions).map(\.name))
            for word in words where word.hasPrefix("--") {
                #expect(names.contains(String(word.dropFirst(2))), "\(word)")
            }
        }
    }

    @Test func aBusyStackSaysForHowLong() {
        #expect(
            ImageError(.busy, "full", details: ["retryAfter": "1.3"]).advice?
                .hasPrefix("try again in 2 s") == true)
        #expect(
            ImageError(.busy, "full", details: ["retryAfter": "nan"]).advice?
                .hasPrefix("try again in a moment") == true)
        let status = ["httpStatus": "429", "retryAfter": "7"]
        #expect(
            ImageError(.invalidDownloadStatusCode, "no", details: status).advice?
                .hasPrefix("try again in 7 s") == true)
    }

    @Test func whatTheMessageSaysIsNotSaidAgain() {
        #expect(ImageError(.unavailable, advising: "start one with imagebus serve").advice == nil)
        #expect(ImageError.noAnswer.advice == nil)
        let missing = ImageError(.deadlineExceeded, "start a worker") { $0.pool = "decode" }
        #expect(missing.advice == nil)
        let unverified = ImageError(.tlsFailed, "use --ca-file") { $0.curlCode = 60 }
        #expect(unverified.advice == nil)
        let other = ImageError(.tlsFailed, "no cipher") { $0.curlCode = 59 }
        #expect(other.advice != nil)
        #expect(
            ImageError(.limitExceeded, "too large", details: ["setting": "body-limit"]).advice
                == "serve --body-limit sets this limit")
    }

    /// Messages can contain texts of an origin or plug-in.
    @Test(arguments: ["imagebus serve", "no host a--b.example", "--", ""])
    func theTextOfAMessageDecidesNothing(message: String) {
        for code in ErrorCode.allCases {
            #expect(ImageError(code, message).advice == ImageError(code, "something").advice)
        }
    }
}
