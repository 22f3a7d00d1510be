import ImageModel
import Linux
import Testing

@testable import CoordinatorRuntime

@Suite struct IdentityDigestTests {
    private func request(_ url: String, _ headers: [(String, String)] = []) -> Resolution {
        var request = ImageRequest(url: url)
        request.headers = headers.map { HTTPHeader(name: $0.0, value: $0.1) }
        return Resolution(request)
    }

    @Test func aRequestWithoutCredentialsHasNoIdentity() throws {
        let digest = try IdentityDigest(keyFile: nil)
        let identity = digest.identity(of: request("http://a.test/", [("Accept", "image/png")]))
        #expect(identity == nil)
    }

    @Test func identitiesDifferAndTellNothing() throws {
        let digest = try IdentityDigest(keyFile: nil)
        let requests = [
            request("http://a.test/", [("Authorization", "one")]),
            request("http://a.test/", [("authorization", "two")]),
            request("http://a.test/", [("Cookie", "one")]),
            request("http://user:one@a.test/"),
            request("http://a.test/", [("Authorization", "o"), ("Cookie", "ne")]),
        ]
        let identities = requests.compactMap { digest.identity(of: $0) }
        #expect(Set(identities).count == requests.count)
        #expect(identities.allSatisfy { $0.utf8.count == 32 && !$0.contains("one") })
        let again = digest.identity(of: request("http://b.test/", [("AUTHORIZATION", "one")]))
        #expect(again == identities[0], "who asks, not for what")
    }

    @Test func aNameTakesThePlaceOfCredentialsAndOfNothingElse() throws {
        let digest = try IdentityDigest(keyFile: nil)
        var (one, two) = (
            request("http://a.test/", [("Cookie", "one")]),
            request("http://a.test/", [("Cookie", "two")])
        )
        (one.identityName, two.identityName) = ("partner-7", "partner-7")
        var other = one
        other.identityName = "partner-8"
        var nobody = request("http://a.test/")
        nobody.identityName = "partner-7"
        let identities = [one, two, other, nobody].map { digest.identity(of: $0) }
        #expect(identities[1] == identities[0], "a rotated token is the same identity")
        #expect(identities[0]?.contains("partner") == false)
        #expect(identities[2] != nil && identities[2] != identities[0])
        #expect(identities[3] == nil, "who shows nothing is nobody")
    }

    @Test func aSecretHeaderIsACredentialWhateverItsName() throws {
        let digest = try IdentityDigest(keyFile: nil)
        var asked = request("http://a.test/", [("X-Api-Key", "one")])
        let before = digest.identity(of: asked)
        asked.secretHeaders = ["x-api-key"]
        let after = digest.identity(of: asked)
        #expect(before == nil && after != nil)
    }

    @Test func theKeyOutlivesTheProcessAndIsNobodyElses() throws {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/key"
        let asked = request("http://a.test/", [("Cookie", "one")])
        let first = try IdentityDigest(keyFile: path).identity(of: asked)
        let second = try IdentityDigest(keyFile: path).identity(of: asked)
        let other = try IdentityDigest(keyFile: nil).identity(of: asked)
        #expect(first == second && first != other)
        let status = try FileDescriptor.open(path).status()
        #expect(status.mode == 0o600)
    }
}
