import Model
import Testing

@testable import Wire

/// The texts of all transfer terms have a combined limit: at most `TransferTerms.bytesMax` bytes of
/// them are encoded or decoded, so that they fit into a message with everything else.
@Suite struct TransferLimitTests {
    private static func text(_ count: Int) -> String { String(repeating: "a", count: count) }

    private static let refusal = WireError.field(
        FieldError(field: "Fetch.terms", problem: .tooLong(limit: 3_072)), token: nil)

    /// The maximum number of bytes, in three texts of maximum length.
    private static func full(_ change: (inout TransferTerms) -> Void) -> TransferTerms {
        var terms = TransferTerms()
        terms.removedHeaders = [text(1_024), text(1_024), text(1_024)]
        change(&terms)
        return terms
    }

    /// Fields other than texts do not count.
    @Test func termsOfExactlyTheLimitTravel() throws {
        let terms = Self.full {
            $0.isUnverified = true
            $0.decryptors = [.gzip, .base64]
            $0.response.statuses = [404: 200]
            $0.response.everyStatus = 500
        }
        #expect(terms.byteCount == TransferTerms.bytesMax)
        let read: TransferTerms? = WireBody.read(try WireBody.written(terms))
        #expect(read == terms)
    }

    /// One more text of each kind, some of a single byte.
    @Test func eachTextBeyondTheLimitIsRefused() {
        let further: [(name: String, change: (inout TransferTerms) -> Void)] = [
            ("a removed header", { $0.removedHeaders.append("a") }),
            ("a required header", { $0.requiredHeaders = ["a"] }),
            ("a secret header", { $0.secretHeaders = ["a"] }),
            ("the name of a header", { $0.response.headers = [HTTPHeader(name: "a", value: "")] }),
            ("the value of one", { $0.response.headers = [HTTPHeader(name: "", value: "a")] }),
            ("a header taken out", { $0.response.removedHeaders = ["a"] }),
            ("a key", { $0.decryptors = [.aes256GCM(key: [UInt8](repeating: 1, count: 32))] }),
            (
                "a credential",
                { $0.credential = TransferCredential(.basic, user: "a", password: "") }
            ),
            ("a certificate", { $0.certificate = ClientCertificate(path: "/a", keyPath: "/b") }),
            ("a cookie jar", { $0.cookieJar = "a" }),
        ]
        for text in further {
            let terms = Self.full(text.change)
            #expect(throws: Self.refusal, "\(text.name)") { try WireBody.written(terms) }
        }
    }

    /// A worker may receive messages from other encoders than ours.
    @Test(arguments: [(1_023, true), (1_024, false)])
    func whatIsReadIsWithinTheLimit(last: Int, isTaken: Bool) {
        let long = Self.text(1_024)
        let body = ProtobufBytes.none.text(1, long).text(2, long).text(5, "a")
            .text(10, Self.text(last))
        let terms: TransferTerms? = WireBody.read(body.bytes)
        #expect((terms != nil) == isTaken)
        #expect(terms?.byteCount == (isTaken ? TransferTerms.bytesMax : nil))
    }
}
