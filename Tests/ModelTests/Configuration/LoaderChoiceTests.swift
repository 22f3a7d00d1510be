import Testing

@testable import Model

/// Which loader handles a URL.
@Suite struct LoaderChoiceTests {
    private static let place = S3Place(endpoint: "https://s3.example.com", region: "eu-central-1")

    private func configuration(_ loaders: [NamedLoader]) -> Configuration {
        var configuration = Configuration()
        configuration.loaders = loaders
        return configuration
    }

    private func file(
        _ name: String, _ root: String, _ pattern: String? = nil
    ) throws -> NamedLoader {
        var loader = NamedLoader(name: name, means: .file(FileRoot(path: root)))
        loader.patterns = try pattern.map { [try #require(URLPattern($0))] }
        return loader
    }

    private func terms(
        _ configuration: Configuration, _ url: String, _ name: String? = nil
    ) throws -> LoadTerms {
        var request = ImageRequest(url: url)
        request.context.loader = name
        return try configuration.resolve(request).terms
    }

    @Test func theLastThatTakesTheURLIsAsked() throws {
        let configuration = configuration([
            try file("all", "/all"), try file("first", "/first", "file:///photos/*"),
            try file("second", "/second", "file:///photos/*"),
            try file("other", "/other", "file:///drawings/*"),
        ])
        let cases = [
            ("file:///photos/a.jpg", "/second"), ("file:///drawings/a.jpg", "/other"),
            ("file:///a.jpg", "/all"), ("file:///photos", "/all"),
        ]
        for (url, root) in cases {
            #expect(try terms(configuration, url).loader == .file(FileRoot(path: root)), "\(url)")
        }
        #expect(try terms(configuration, "http://h/a").loader == .http, "the lowest")
        #expect(
            try terms(configuration, "file:///photos/a.jpg", "first").loader
                == .file(FileRoot(path: "/first")))
        let refused = try terms(configuration, "file:///photos/a.jpg", "other")
        #expect(refused.refusal?.code == .unsupportedScheme)
        #expect(refused.loader == .http, "nobody")
    }

    /// If no loader takes the scheme, the error says which setting to change.
    @Test(arguments: [
        ("file:///a", "a loader of kind 'file' to 'loaders'"),
        ("s3://photos/a", "a loader of kind 's3' to 'loaders'"),
        ("data:,a", "a loader of kind 'data' to 'loaders'"),
        ("ftp://h/a", "use http or https"), ("assets:/a", "use http or https"),
    ]) func aSchemeThatNobodyTakesSaysWhatToDo(url: String, words: String) throws {
        let refusal = try #require(try terms(Configuration(), url).refusal)
        #expect(refusal.code == .unsupportedScheme)
        #expect(refusal.message.contains(words), "\(refusal.message)")
    }

    @Test func aURLBesideAllPatternsSaysWhatToDo() throws {
        let configuration = configuration([try file("photos", "/p", "file:///photos/*")])
        let refusal = try #require(try terms(configuration, "file:///secret/a").refusal)
        #expect(refusal.code == .unsupportedScheme)
        #expect(refusal.message.contains("'match'"))
    }

    @Test func aPathThatALoaderTakesInSomeReadingsOnlyIsRefused() throws {
        var photos = NamedLoader(name: "photos", means: .http)
        photos.patterns = [try #require(URLPattern("https://h/photos/*"))]
        let configuration = configuration([photos])
        for url in ["https://h/photos/..%2fa", "https://h/a/..%2fphotos/b"] {
            let refusal = try terms(configuration, url).refusal
            #expect(refusal == ImageError.ambiguousPath, "\(url)")
            let unrestricted = try terms(configuration, url, "http").refusal
            #expect(unrestricted == nil, "\(url)")
        }
        for url in ["https://h/photos/a%2fb", "https://h/a/..%2fb", "https://o/photos/..%2fa"] {
            let refusal = try terms(configuration, url).refusal
            #expect(refusal == nil, "\(url)")
        }
    }

    @Test func aURLThatItsLoaderCannotTakeIsRefusedBeforeAnyWork() throws {
        let all = configuration([
            try file("f", "/f"), NamedLoader(name: "d", means: .data),
            NamedLoader(name: "s", means: .s3(Self.place)),
        ])
        for url in ["file:///../a", "file://h/a", "data:x", "s3://A/b", "s3://photos/a?acl"] {
            #expect(try terms(all, url).refusal?.code == .invalidURL, "\(url)")
        }
    }

    @Test func patternsOfLoadersMayHaveNoHost() throws {
        var data = NamedLoader(name: "d", means: .data)
        data.patterns = [try #require(URLPattern("data:*"))]
        #expect(try terms(configuration([data]), "data:image/png,a://b/c").loader == .data)
        #expect(URLPattern("https:///a") == nil)
        // A URL without an authority matches no pattern with components.
        let photos = try #require(URLPattern("file:///photos/*"))
        for url in ["file:/photos/a", "file:/secret:///photos/a", "file:photos/a"] {
            #expect(!photos.matches(URLTarget(try SourceURL(url))), "\(url)")
        }
    }

    @Test func credentialsComeFromTheirFile() throws {
        var loader = NamedLoader(name: "s", means: .s3(Self.place))
        loader.credentialsFile = "/run/s3"
        var configuration = configuration([loader])
        #expect(configuration.secretFiles == ["/run/s3"])
        configuration.secretErrors["/run/s3"] = "it burned"
        let missing = configuration.error(ImageRequest(url: "s3://photos/a"))
        #expect(missing?.code == .invalidDownloadOperation)
        #expect(missing?.message.contains("it burned") == true)
        configuration.secrets["/run/s3"] = """
            [other]
            aws_access_key_id = X
            # a comment
            [default]
              aws_access_key_id=AKID
            aws_secret_access_key = a/b+c=
            region = eu
            [more]
            aws_secret_access_key = Y
            """
        guard case .s3(let place) = try terms(configuration, "s3://photos/a").loader else {
            Issue.record("no S3")
            return
        }
        #expect(
            place.credentials == S3Credentials(accessKeyID: "AKID", secretAccessKey: "a/b+c="))
        #expect(!"\(place)".contains("a/b+c=") && !String(reflecting: place).contains("AKID"))
        var dumped = ""
        dump(place, to: &dumped)
        #expect(!dumped.contains("a/b+c="))
    }

    @Test(arguments: [
        "", "[default]", "[default]\naws_access_key_id = A", "aws_access_key_id = A",
        "[default]\naws_access_key_id = A B\naws_secret_access_key = s",
        "[default]\naws_access_key_id = A:B\naws_secret_access_key = s",
        "[other]\naws_access_key_id = A\naws_secret_access_key = s",
        "[default]\naws_access_key_id = A\naws_secret_access_key = s\u{7F}",
    ]) func whatIsNoProfileIsNone(text: String) {
        #expect(S3Credentials(profileFile: text) == nil)
    }

    /// The forms in Amazon's documentation.
    @Test func objectsHaveTheirURL() throws {
        let object = try S3Object(try SourceURL("s3://photos/a%20b/%C3%BC+~*.jpg"))
        var place = Self.place
        #expect(
            place.url(of: object) == "https://s3.example.com/photos/a%20b/%C3%BC%2B~%2A.jpg")
        place.endpoint = "https://s3.example.com:9000"
        place.hasBucketInHost = true
        #expect(
            place.url(of: object)
                == "https://photos.s3.example.com:9000/a%20b/%C3%BC%2B~%2A.jpg")
    }

    @Test(arguments: [
        ("https://h", true), ("http://h:9000", true), ("https://[fd00::7]:9000", true),
        ("https://h/", false), ("https://h/x", false), ("https://u@h", false),
        ("https://h?x", false), ("https://h#x", false), ("ftp://h", false), ("h", false),
        ("https://h%2f", false), ("https://", false), ("HTTPS://h", false),
    ]) func anEndpointIsAHost(text: String, isEndpoint: Bool) {
        #expect(S3Place.isEndpoint(text) == isEndpoint)
    }

    @Test func aLoaderOfAProfileAndOfARuleIsTheOnlyOneAsked() throws {
        var configuration = configuration([try file("first", "/1"), try file("second", "/2")])
        configuration.usual.loader = "first"
        #expect(
            try terms(configuration, "file:///a").loader == .file(FileRoot(path: "/1")))
        #expect(try terms(configuration, "http://h/a").refusal?.code == .unsupportedScheme)
        let rule = try Rule(matching: "file:///photos/*") {
            $0.context = [try ContextSetting(.imageLoader, "second")]
        }
        configuration.usual.rules = [rule]
        #expect(
            try terms(configuration, "file:///photos/a").loader == .file(FileRoot(path: "/2")))
    }

    // MARK: - Coders

    @Test func aRequestNamesItsCoderAndAProfileTheirOrder() throws {
        var configuration = Configuration()
        configuration.pools = [
            WorkerPool(name: try #require(PoolName("qoi")), kind: .decode),
            WorkerPool(name: try #require(PoolName("photos")), kind: .download),
        ]
        var request = ImageRequest(url: "http://h/a")
        #expect(try configuration.resolve(request).terms.coders == [])
        configuration.usual.coders = ["decode", "qoi"]
        #expect(try configuration.resolve(request).terms.coders == ["decode", "qoi"])
        request.context.coder = "qoi"
        let resolution = try configuration.resolve(request)
        #expect(resolution.terms.coders == ["qoi"])
        #expect(resolution.request.context.isEmpty)
        for name in ["photos", "other"] {
            request.context.coder = name
            let error = configuration.error(request)
            #expect(error?.code == .invalidRequest)
            let names = "decode, qoi, vector"
            #expect(error?.message.contains(names) == true, "\(String(describing: error))")
        }
    }
}
