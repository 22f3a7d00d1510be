import Testing

@testable import Model

/// How rules affect transfers (SEMANTICS §10.13 to §10.16).
@Suite struct TransferResolutionTests {
    /// `resolve` with a rewrite.
    private func rewrite(
        _ url: String, sources: [String]? = nil, verifiesTLS: Bool = true,
        _ change: (inout URLRewrite) -> Void
    ) throws -> Resolution {
        try resolve(url, sources: sources) {
            var rewrite = URLRewrite()
            change(&rewrite)
            ($0.rewrite, $0.verifiesTLS) = (rewrite, verifiesTLS)
        }
    }

    private func resolve(
        _ url: String, headers: [HTTPHeader] = [], secrets: [String: String] = [:],
        sources: [String]? = nil, _ change: (inout TransferRule) -> Void
    ) throws -> Resolution {
        var configuration = Configuration(
            rules: [try Rule(matching: "*") { change(&$0.transfer) }])
        configuration.secrets = secrets
        configuration.sources = sources?.compactMap { URLPattern($0) }
        var request = ImageRequest(url: url)
        request.headers = headers
        return try configuration.resolve(request)
    }

    @Test(arguments: [
        ("http://h/a.png?x#f", "https://o:8/v/a.png?q=1"), ("http://h", "https://o:8/v/?q=1"),
        ("http://u:p@h:1/a/b", "https://u:p@o:8/v/a/b?q=1"),
        ("http://h?x", "https://o:8/v/?q=1"),
    ]) func everyPartIsRewritten(_ url: String, _ expected: String) throws {
        let resolution = try rewrite(url) {
            ($0.scheme, $0.host, $0.pathPrefix, $0.query) = ("https", "o:8", "/v/", "q=1")
        }
        #expect(resolution.terms.urlToFetch == expected)
        #expect(resolution.request.url == url, "the key is that of the URL that was asked for")
    }

    @Test func whatIsNotSaidStays() throws {
        let host = try rewrite("http://h/a?x=1") { $0.host = "o" }
        #expect(host.terms.urlToFetch == "http://o/a?x=1")
        let query = try rewrite("http://h/a?x=1") { $0.query = "" }
        #expect(query.terms.urlToFetch == "http://h/a")
        let scheme = try rewrite("http://h:8/a") { $0.scheme = "https" }
        #expect(scheme.terms.urlToFetch == "https://h:8/a")
    }

    @Test func aRewriteStaysWithinTheSources() throws {
        let error = #expect(throws: ImageError.self) {
            try rewrite("http://h/a", sources: ["http://h/*"]) { $0.host = "o" }
        }
        #expect(error?.code == .sourceForbidden)
        let fine = try rewrite("http://h/a", sources: ["http://h/*", "http://o/*"]) {
            $0.host = "o"
        }
        #expect(fine.terms.urlToFetch == "http://o/a" && fine.terms.refusal == nil)
    }

    @Test func aCredentialTakesThePlaceOfWhatTheRequestSays() throws {
        let headers = [HTTPHeader(name: "authorization", value: "Basic x")]
        let password = try resolve("http://u:p@h/a", headers: headers, secrets: ["/p": "hush"]) {
            $0.credential = .password(.digest, user: "ann", file: "/p")
        }
        #expect(password.request.headers.isEmpty)
        #expect(password.terms.urlToFetch == "http://h/a")
        #expect(
            password.terms.transfer.credential
                == TransferCredential(.digest, user: "ann", password: "hush"))
        let bearer = try resolve("http://h/a", headers: headers, secrets: ["/p": "hush"]) {
            $0.credential = .bearer(file: "/p")
        }
        #expect(
            bearer.request.headers == [HTTPHeader(name: "Authorization", value: "Bearer hush")])
        #expect(bearer.secretHeaders == ["authorization"])
    }

    /// Header names are listed as secret unless they carry credentials by definition.
    @Test func secretsInHeadersOfAnyNameAreTold() throws {
        let rule = try Rule(matching: "*") {
            $0.headers = ["User-Agent", "X-Api-Key", "X-Request-Id"].map {
                RuleHeader(name: $0, value: .file("/s"))
            }
            $0.headers.append(RuleHeader(name: "Accept-Language", value: .text("de")))
            $0.transfer.removedHeaders = ["x-request-id"]
        }
        var configuration = Configuration(rules: [rule])
        configuration.secrets = ["/s": "hush"]
        let resolution = try configuration.resolve(ImageRequest(url: "http://h/a"))
        #expect(resolution.terms.transfer.secretHeaders == ["user-agent"])
        let open = try resolve("http://h/a", headers: [HTTPHeader(name: "dnt", value: "1")]) { _ in
        }
        #expect(open.terms.transfer.isEmpty)
    }

    @Test func aKeyHasSixtyFourDigits() throws {
        let hex = String(repeating: "0aF", count: 21) + "9"
        let resolution = try resolve("http://h/a", secrets: ["/k": hex]) {
            $0.decryptors = [.aes256GCM(keyFile: "/k")]
        }
        guard case .aes256GCM(let key) = resolution.terms.transfer.decryptors.first else {
            Issue.record("no key")
            return
        }
        #expect(key.count == 32 && key.first == 0x0A && key.last == 0xF9)
        for text in ["", String(hex.dropLast()), hex + "0", "g" + hex.dropFirst()] {
            let error = #expect(throws: ImageError.self) {
                try resolve("http://h/a", secrets: ["/k": text]) {
                    $0.decryptors = [.aes256GCM(keyFile: "/k")]
                }
            }
            #expect(error?.code == .invalidDownloadOperation)
            #expect(text.isEmpty || error?.message.contains(text) == false)
        }
    }

    @Test func aSecretThatIsNotThereIsNamed() {
        let error = #expect(throws: ImageError.self) {
            try resolve("http://h/a") { $0.credential = .bearer(file: "/none") }
        }
        #expect(error?.code == .invalidDownloadOperation)
        #expect(error?.message.contains("/none") == true)
    }

    /// No credentials are sent to a host whose certificate isn't verified, regardless of where they
    /// come from.
    @Test func noCredentialsAreSentUnverified() throws {
        let open = try resolve("https://h/a") { $0.verifiesTLS = false }
        #expect(open.terms.transfer.isUnverified && open.terms.transfer.secrets.isEmpty)
        let cases: [(String, [HTTPHeader], (inout TransferRule) -> Void)] = [
            ("https://ann:x@h/a", [], { _ in }),
            ("https://h/a", [HTTPHeader(name: "Cookie", value: "a=b")], { _ in }),
            ("https://h/a", [HTTPHeader(name: "X-Mine", value: "1")], { _ in }),
            ("https://h/a", [], { $0.cookieJar = "shop" }),
            ("https://h/a", [], { $0.credential = .bearer(file: "/t") }),
            (
                "https://h/a", [],
                { $0.certificate = ClientCertificate(path: "/c", keyPath: "/k") }
            ),
        ]
        for (url, headers, change) in cases {
            let error = #expect(throws: ImageError.self, "\(url) \(headers)") {
                try resolve(url, headers: headers, secrets: ["/t": "x"]) {
                    $0.verifiesTLS = false
                    change(&$0)
                }
            }
            #expect(error?.code == .invalidDownloadOperation)
            #expect(error?.message.contains("tls-verify") == true)
        }
        // Harmless headers are sent.
        let accept = [HTTPHeader(name: "Accept", value: "image/webp")]
        #expect(throws: Never.self) {
            try resolve("https://h/a", headers: accept) { $0.verifiesTLS = false }
        }
    }

    /// Other loaders have their own credentials.
    @Test func onlyTheHTTPLoaderIsLeftUnverified() throws {
        var configuration = Configuration(
            rules: [try Rule(matching: "*") { $0.transfer.verifiesTLS = false }])
        var loader = NamedLoader(name: "mine", means: .file(FileRoot(path: "/srv")))
        loader.schemes = ["local"]
        configuration.loaders = [loader]
        #expect(configuration.error(ImageRequest(url: "https://h/a")) == nil)
        let error = configuration.error(ImageRequest(url: "local:///a.png"))
        #expect(error?.code == .invalidDownloadOperation)
    }

    /// An image from an unverified host never answers a request for a verified one.
    @Test func unverifiedEntriesAreKeptApart() throws {
        let url = try SourceURL("https://h/a.png")
        var terms = LoadTerms()
        terms.transfer.isUnverified = true
        #expect(CacheKey.original(url: url, terms: terms) == "https://h/a-TLS(unverified).png")
        terms.identity = "0f"
        #expect(
            CacheKey.original(url: url, terms: terms)
                == "https://h/a-Auth(0f)-TLS(unverified).png")
        let request = ImageRequest(url: "https://h/a.png")
        #expect(
            CacheKey.result(request, url: url, terms: terms)
                == "https://h/a-Auth(0f)-TLS(unverified).png")
        // A URL that spells the key of another entry doesn't address that entry.
        let verified = LoadTerms()
        terms.identity = nil
        let spelled = try SourceURL("https://h/a-TLS(unverified).png")
        let (mine, theirs) = (
            CacheKey.original(url: spelled, terms: verified),
            CacheKey.original(url: url, terms: terms)
        )
        #expect(
            CacheKey.stored(mine, in: "", verified) != CacheKey.stored(theirs, in: "", terms))
        #expect(
            CacheKey.stored(shown: theirs, in: "") == CacheKey.stored(theirs, in: "", terms))
    }

    /// A rule applies to the host that it names, not to the target of another rule's rewrite.
    @Test func aRewrittenHostIsVerified() throws {
        func isUnverified(_ change: (inout URLRewrite) -> Void) throws -> Bool {
            try rewrite("https://h/a", verifiesTLS: false, change).terms.transfer.isUnverified
        }
        #expect(try isUnverified { $0.pathPrefix = "/v" })
        #expect(try !isUnverified { $0.host = "o" })
        #expect(try !isUnverified { $0.host = "h:8443" })
    }

    /// Credentials are part of the identity; other settings don't affect it.
    @Test func onlySecretsAreSecret() {
        var terms = TransferTerms()
        terms.removedHeaders = ["accept"]
        terms.response.everyStatus = 200
        terms.decryptors = [.gzip, .base64]
        #expect(terms.secrets.isEmpty)
        var others = [TransferTerms](repeating: terms, count: 4)
        others[0].credential = TransferCredential(.basic, user: "a", password: "b")
        others[1].certificate = ClientCertificate(path: "/a", keyPath: "/b")
        others[2].cookieJar = "a"
        others[3].decryptors.append(.aes256GCM(key: [UInt8](repeating: 1, count: 32)))
        #expect(Set(others.map(\.secrets)).count == 4)
        #expect(others.allSatisfy { !$0.secrets.isEmpty })
    }
}
