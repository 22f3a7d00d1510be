import ImageModel
import Linux
import Testing

@testable import CoordinatorRuntime

@Suite struct IdentityDigestTests {
    private func request(_ url: String, _ headers: [(String, String)] = []) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.headers = headers.map { HTTPHeader(name: $0.0, value: $0.1) }
        return request
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
