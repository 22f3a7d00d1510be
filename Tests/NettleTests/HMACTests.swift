import Nettle
import Testing

/// Test vectors of RFC 2202 and RFC 4231.
@Suite struct HMACTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func codesOverSHA1AreThoseOfTheStandard() {
        let first = HMAC.sha1.code(
            of: [bytes("Hi There")], key: [UInt8](repeating: 0x0B, count: 20))
        #expect(hex(first) == "b617318655057264e28bc0b6fb378c8ef146be00")
        let second = HMAC.sha1.code(of: [bytes("what do ya want for nothing?")], key: bytes("Jefe"))
        #expect(hex(second) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    }

    @Test func codesOverSHA256AreThoseOfTheStandard() {
        let first = HMAC.sha256.code(
            of: [bytes("Hi There")], key: [UInt8](repeating: 0x0B, count: 20))
        #expect(
            hex(first) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let long = HMAC.sha256.code(
            of: [bytes("Test Using Larger Than Block-Size Key - Hash Key First")],
            key: [UInt8](repeating: 0xAA, count: 131))
        #expect(hex(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func codesOverSHA512AreThoseOfTheStandard() {
        let code = HMAC.sha512.code(
            of: [bytes("Hi There")], key: [UInt8](repeating: 0x0B, count: 20))
        #expect(
            hex(code) == "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854")
    }

    /// Including an empty key and an empty message.
    @Test(arguments: [HMAC.sha1, .sha256, .sha512])
    func partsAreOneMessage(of algorithm: HMAC) {
        let whole = algorithm.code(of: [bytes("hello/path")], key: bytes("secret"))
        let parts = algorithm.code(of: [bytes("hello"), [], bytes("/path")], key: bytes("secret"))
        #expect(parts == whole)
        #expect(whole.count == algorithm.byteCount)
        #expect(algorithm.code(of: [], key: []) == algorithm.code(of: [[]], key: []))
        #expect(algorithm.code(of: [], key: []) != whole)
    }

    @Test func secretsAreEqualOnlyAsAWhole() {
        #expect(SecretBytes.areEqual([], []))
        #expect(SecretBytes.areEqual(bytes("same"), bytes("same")))
        #expect(!SecretBytes.areEqual(bytes("same"), bytes("samf")))
        #expect(!SecretBytes.areEqual(bytes("same"), bytes("tame")))
        #expect(!SecretBytes.areEqual(bytes("same"), bytes("sam")))
        #expect(!SecretBytes.areEqual([], bytes("s")))
    }
}
