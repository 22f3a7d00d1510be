import Linux
import Model
import Testing

@testable import Coordinator

@Suite struct IdentityDigestTests {
    private func request(_ url: String, _ headers: [(String, String)] = []) -> Resolution {
        var request = ImageRequest(url: url)
        request.headers = headers.map { HTTPHeader(name: $0.0, value: $0.1) }
        return Resolution(request)
    }

    @Test func aRequestWithoutCredentialsHasNoIdentity() throws {
        let digest = try IdentityDigest(keyFile: nil)
        let identity = digest.identify(request("http://a.test/", [("Accept", "image/png")]))
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
        let identities = requests.compactMap { digest.identify($0) }
        #expect(Set(identities).count == requests.count)
        #expect(identities.allSatisfy { $0.utf8.count == 32 && !$0.contains("one") })
        let again = digest.identify(request("http://b.test/", [("AUTHORIZATION", "one")]))
        #expect(again == identities[0], "credentials, not requests")
    }

    /// A request with a named secret header that the configuration added.
    private func named(
        _ name: String, secret: String, url: String = "http://a.test/",
        _ headers: [(String, String)] = []
    ) -> Resolution {
        var asked = request(url, headers + [("X-Api-Key", secret)])
        asked.secretHeaders = ["x-api-key"]
        asked.identityName = name
        return asked
    }

    @Test func aNameTakesThePlaceOfTheOperatorsSecrets() throws {
        let digest = try IdentityDigest(keyFile: nil)
        let one = digest.identify(named("partner-7", secret: "one"))
        let two = digest.identify(named("partner-7", secret: "two"))
        let other = digest.identify(named("partner-8", secret: "one"))
        var nobody = request("http://a.test/")
        nobody.identityName = "partner-7"
        let nothing = digest.identify(nobody)
        #expect(one == two, "a rotated token is the same identity")
        let later = digest.identify
        #expect(later(named("partner-7", secret: "one")) == one)
        #expect(one?.contains("partner") == false)
        #expect(other != nil && other != one)
        #expect(nothing == nil, "no credentials, no identity")
    }

    @Test func underANameClientsWithCredentialsOfTheirOwnStayApart() throws {
        let digest = try IdentityDigest(keyFile: nil)
        let different = [
            named("p", secret: "one"),
            named("p", secret: "one", [("Authorization", "me")]),
            named("p", secret: "one", [("Authorization", "you")]),
            named("p", secret: "one", [("Cookie", "me")]),
            named("p", secret: "one", url: "http://me:x@a.test/"),
            named("p", secret: "one", url: "http://you:x@a.test/"),
        ]
        let identities = different.compactMap { digest.identify($0) }
        #expect(Set(identities).count == different.count)
        let rotated = digest.identify(named("p", secret: "two", [("Authorization", "me")]))
        #expect(rotated == identities[1])
    }

    @Test(arguments: ["X-Api-Key", "X-Session", "x-forwarded-for", "anything"])
    func aHeaderIsACredentialUnlessItIsKnownToBeNone(name: String) throws {
        let digest = try IdentityDigest(keyFile: nil)
        let one = digest.identify(request("http://a.test/", [(name, "one")]))
        let two = digest.identify(request("http://a.test/", [(name, "two")]))
        #expect(one != nil && two != nil && one != two)
        let harmless = [("Accept", "a"), ("User-Agent", "b"), ("traceparent", "c")]
        #expect(digest.identify(request("http://a.test/", harmless)) == nil)
        let both = digest.identify(request("http://a.test/", harmless + [(name, "one")]))
        #expect(both == one, "harmless headers aren't part of an identity")
    }

    @Test func theKeyOutlivesTheProcessAndIsNobodyElses() throws {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/key"
        let asked = request("http://a.test/", [("Cookie", "one")])
        let first = try IdentityDigest(keyFile: path).identify(asked)
        let second = try IdentityDigest(keyFile: path).identify(asked)
        let other = try IdentityDigest(keyFile: nil).identify(asked)
        #expect(first == second && first != other)
        let status = try FileDescriptor.open(path).status()
        #expect(status.mode == 0o600)
    }
}
