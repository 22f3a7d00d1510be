extension RealProcesses {
    /// The whole stack in front of TLS origins.
    @Suite struct SecureOriginTests {
        private let origin = OriginServer()
        private let authority: TestAuthority

        init() throws {
            authority = try TestAuthority()
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
        }

        @Test func namedCertificatesAreTrustedAndNoProxyIsAsked() async throws {
            let proxy = OriginServer()
            let front = try SecureFront(origin, of: authority)
            let unknown = try SecureFront(origin, .selfSigned, of: authority)
            var environment: [String: String] = [:]
            for name in ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"] {
                environment[name] = proxy.url("/")
            }
            let arguments = ["--allow-private-networks", "--ca-file", authority.certificate]
            try await withStack(arguments, decoders: 1, environment: environment) { stack in
                try stack.get([front.url("/a.png"), "--resize", "8x8", "--json"]).expect(0)
                let via = origin.requests("/a.png").first?.header("via") ?? ""
                #expect(via.hasPrefix("2 "), "\(via)")
                let refused = try stack.get([unknown.url("/a.png"), "--json"]).expect(76)
                let error = try refused.json()["error"]
                #expect(error?["code"]?.integer == Int(ErrorCode.tlsFailed.rawValue))
                let message = error?["message"]?.text ?? ""
                #expect(message.contains("--ca-file FILE"), "the error gives advice: \(message)")
                try stack.get([origin.url("/a.png?plain"), "--json"]).expect(0)
                #expect(proxy.acceptedConnectionCount == 0)
            }
        }

        /// The operator disables certificate verification for one host: its images are loaded and
        /// cached separately, the status names the host, and no credentials are sent to it.
        @Test func aRuleLeavesOneHostUnverified() async throws {
            let front = try SecureFront(origin, .selfSigned, of: authority)
            let other = try SecureFront(origin, .expired, of: authority)
            let folder = TemporaryDirectory()
            let arguments = folder.configuration(
                """
                profiles:
                  default:
                    rules: [{match: "https://\(front.address)/*", tls-verify: no}]
                """)
            try await withStack(arguments, decoders: 1) { stack in
                let image = try stack.get([front.url("/a.png"), "--json"]).expect(0)
                #expect(try image.json()["key"]?.text == front.url("/a-TLS(unverified).png"))
                try stack.get([other.url("/a.png"), "--json"]).expect(76)
                let shown = try stack.get([
                    front.url("/a.png"), "--header", "Authorization: Basic eA==", "--json",
                ])
                #expect(
                    try shown.json()["error"]?["name"]?.text == "invalidDownloadOperation")
                #expect(!origin.requests("/a.png").contains { $0.header("authorization") != nil })
                let report = try await OperatorClient(stack.client()).status()
                #expect(report.unverifiedHosts == [front.address])
            }
        }

        @Test func aFileWithoutCertificatesEndsTheStart() throws {
            let folder = TemporaryDirectory()
            let file = folder.write("none", to: "none.pem")
            try CommandLineRun([
                "serve", "--runtime-dir", folder.file("run"), "--cache-dir", folder.file("cache"),
                "--ca-file", file,
            ]).end().expect(78, "--ca-file \(file) contains no PEM certificate")
        }
    }
}
